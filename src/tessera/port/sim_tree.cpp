#include "tessera/port/sim_tree.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::port {

namespace {

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

SimTree::SimTree() { directories_[kRoot]; }

SimTree::SimTree(const DiskImage& image) : SimTree() {
  std::set<std::string> directories;
  const auto add_with_parents = [&](std::string path) {
    for (; !path.empty(); path = parent_of(path)) directories.insert(path);
  };
  for (const std::string& path : image.directories) add_with_parents(path);
  for (const auto& [path, content] : image.files) add_with_parents(parent_of(path));
  // Sorted order puts every directory behind those above it.
  std::map<std::string, Inode> inodes = {{"", kRoot}};
  for (const std::string& path : directories) {
    const Inode inode = inodes[path] = new_inode();
    directories_[inode];
    directories_.at(inodes.at(parent_of(path)))[name_of(path)] = inode;
  }
  for (const auto& [path, content] : image.files) {
    const Inode inode = new_inode();
    files_[inode] = content;
    directories_.at(inodes.at(parent_of(path)))[name_of(path)] = inode;
  }
}

std::optional<Inode> SimTree::find(const Entry& entry) const {
  const auto& entries = directories_.at(entry.directory);
  const auto found = entries.find(entry.name);
  if (found == entries.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> SimTree::names(Inode directory) const {
  std::vector<std::string> names;
  for (const auto& [name, inode] : directories_.at(directory)) names.push_back(name);
  return names;
}

int64_t SimTree::size(Inode file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? 0 : base::exact_cast<int64_t>(found->second.size());
}

void SimTree::apply(const DiskOperation& operation) {
  switch (operation.kind) {
    case DiskOperation::Kind::kCreate:
    case DiskOperation::Kind::kMakeDirectory:
      make(operation);
      return;
    case DiskOperation::Kind::kRemove:
      unlink(operation.entry, operation.inode);
      return;
    case DiskOperation::Kind::kRename:
      unlink(operation.entry, operation.inode);
      directories_[operation.to.directory][operation.to.name] = operation.inode;
      return;
    case DiskOperation::Kind::kWrite:
      write(operation.inode, operation.offset, operation.bytes);
      return;
    case DiskOperation::Kind::kTruncate:
      set_size(operation.inode, operation.offset);
      return;
    case DiskOperation::Kind::kSync:
    case DiskOperation::Kind::kSyncFailed:
      return;
  }
}

void SimTree::make(const DiskOperation& operation) {
  if (operation.kind == DiskOperation::Kind::kCreate) {
    files_[operation.inode];
  } else {
    directories_[operation.inode];
  }
  directories_[operation.entry.directory][operation.entry.name] = operation.inode;
}

void SimTree::unlink(const Entry& entry, Inode expected) {
  // Where an earlier change of the name was lost it may stand for another file, or for none.
  auto& entries = directories_[entry.directory];
  const auto found = entries.find(entry.name);
  if (found != entries.end() && found->second == expected) entries.erase(found);
}

void SimTree::write(Inode file, int64_t offset, base::ByteView bytes) {
  auto& content = files_[file];
  const auto begin = base::exact_cast<size_t>(offset);
  if (content.size() < begin + bytes.size()) content.resize(begin + bytes.size());
  std::copy(bytes.begin(), bytes.end(), content.begin() + offset);
}

void SimTree::set_size(Inode file, int64_t size) {
  files_[file].resize(base::exact_cast<size_t>(size));
}

DiskImage SimTree::image() const {
  DiskImage image;
  collect(kRoot, "", image);
  return image;
}

void SimTree::collect(Inode directory, const std::string& prefix, DiskImage& image) const {
  for (const auto& [name, inode] : directories_.at(directory)) {
    if (is_directory(inode)) {
      image.directories.insert(prefix + name);
      collect(inode, prefix + name + "/", image);
    } else {
      // A file whose name is durable but of which nothing was written is empty.
      const auto found = files_.find(inode);
      image.files[prefix + name] = found == files_.end() ? base::Bytes() : found->second;
    }
  }
}

int64_t SimTree::used_bytes() const {
  std::set<Inode> named;
  for (const auto& [directory, entries] : directories_) {
    for (const auto& [name, inode] : entries) named.insert(inode);
  }
  int64_t bytes = 0;
  for (const Inode inode : named) bytes += size(inode);
  return bytes;
}

}  // namespace tessera::port
