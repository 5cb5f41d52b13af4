#include "tessera/port/sim_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::port {

namespace {

using Lock = std::lock_guard<std::mutex>;

// Content is kept without holes: a mistaken offset must not take the machine's memory.
constexpr int64_t kFileBytesMax = int64_t{1} << 30;

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

int64_t total_bytes(std::span<const iovec> memory) {
  int64_t total = 0;
  for (const iovec& piece : memory) total += base::exact_cast<int64_t>(piece.iov_len);
  return total;
}

base::Bytes gathered(std::span<const iovec> memory, int64_t count) {
  base::Bytes bytes;
  auto left = base::exact_cast<size_t>(count);
  for (const iovec& piece : memory) {
    const auto* begin = static_cast<const std::byte*>(piece.iov_base);
    const size_t taken = std::min(left, piece.iov_len);
    bytes.insert(bytes.end(), begin, begin + taken);
    left -= taken;
  }
  return bytes;
}

void scatter(base::ByteView bytes, std::span<const iovec> memory) {
  for (const iovec& piece : memory) {
    const size_t taken = std::min(bytes.size(), piece.iov_len);
    if (taken == 0) return;
    std::memcpy(piece.iov_base, bytes.data(), taken);
    bytes = bytes.subspan(taken);
  }
}

}  // namespace

class SimDisk::SimFile final : public File {
 public:
  SimFile(std::string path, SimDisk& disk, Inode inode, Access access)
      : File(std::move(path)), disk_(disk), inode_(inode), access_(access) {}

  base::Result<void> truncate(int64_t size) override {
    TESSERA_ASSERT(size >= 0);
    const Lock lock(disk_.mutex_);
    const std::string what = "set the size of " + path() + " to " + std::to_string(size);
    int error = disk_.count_operation();
    if (error == 0 && access_ == Access::kRead) error = EINVAL;
    if (error == 0 && size > kFileBytesMax) error = EFBIG;
    if (error == 0 && size - disk_.tree_.size(inode_) > disk_.room_to_grow()) error = ENOSPC;
    if (error != 0) return base::fail_errno(error, what);
    disk_.record({.kind = DiskOperation::Kind::kTruncate, .inode = inode_, .offset = size});
    return {};
  }

  base::Result<int64_t> size() override {
    const Lock lock(disk_.mutex_);
    return disk_.tree_.size(inode_);
  }

  base::Result<void> sync() override {
    const Lock lock(disk_.mutex_);
    return disk_.sync(inode_, "sync " + path());
  }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    const Lock lock(disk_.mutex_);
    if (const int error = disk_.count_operation(); error != 0) return {0, error};
    const base::Bytes& content = disk_.tree_.content(inode_);
    const int64_t available = std::max<int64_t>(0, disk_.tree_.size(inode_) - offset);
    const int64_t count = std::min({available, total_bytes(memory), disk_.attempt_bytes_max_});
    if (count == 0) return {};
    scatter(
        base::ByteView(content).subspan(static_cast<size_t>(offset), static_cast<size_t>(count)),
        memory);
    return {count, 0};
  }

  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    const Lock lock(disk_.mutex_);
    if (const int error = disk_.count_operation(); error != 0) return {0, error};
    if (access_ == Access::kRead) return {0, EBADF};
    if (offset >= kFileBytesMax) return {0, EFBIG};
    const int64_t growth_max = std::min(disk_.room_to_grow(), kFileBytesMax);
    const int64_t room = disk_.tree_.size(inode_) + growth_max - offset;
    if (room <= 0) return {0, ENOSPC};
    const int64_t count = std::min({room, total_bytes(memory), disk_.attempt_bytes_max_});
    disk_.record({.kind = DiskOperation::Kind::kWrite,
                  .inode = inode_,
                  .offset = offset,
                  .bytes = gathered(memory, count)});
    return {count, 0};
  }

 private:
  SimDisk& disk_;
  const Inode inode_;
  const Access access_;
};

class SimDisk::SimFreshFile final : public FreshFile {
 public:
  SimFreshFile(SimDisk& disk, std::string path, std::unique_ptr<File> file)
      : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}
  ~SimFreshFile() override {
    if (!published_) static_cast<void>(disk_.remove(file_->path()));
  }

  [[nodiscard]] File& file() override { return *file_; }
  [[nodiscard]] std::string reach() const override { return file_->path(); }
  [[nodiscard]] base::Result<void> publish(Existing existing) override {
    if (existing == Existing::kKeep && disk_.open(path_, Access::kRead)) {
      return base::Failure{
          {base::Code::kInvalid, EEXIST, path_ + " is there by now; it was not replaced"}};
    }
    TESSERA_TRY_VOID(disk_.rename(file_->path(), path_));
    published_ = true;
    return {};
  }

 private:
  SimDisk& disk_;
  const std::string path_;
  const std::unique_ptr<File> file_;
  bool published_ = false;
};

SimDisk::SimDisk(const DiskImage& image) : tree_(image) { log_.initial = tree_; }

base::Result<std::unique_ptr<File>> SimDisk::open(const std::string& path, Access access) {
  const Lock lock(mutex_);
  if (const int error = count_operation(); error != 0) {
    return base::fail_errno(error, "open " + path);
  }
  TESSERA_TRY(const Inode inode, find_file(path));
  return std::unique_ptr<File>(std::make_unique<SimFile>(path, *this, inode, access));
}

base::Result<std::unique_ptr<File>> SimDisk::open_fresh(const std::string& reach,
                                                        const std::string& /*path*/,
                                                        Access access) {
  return open(reach, access);
}

base::Result<std::unique_ptr<FreshFile>> SimDisk::make_fresh(const std::string& path) {
  TESSERA_TRY(auto file, create(path + ".fresh"));
  return std::unique_ptr<FreshFile>(std::make_unique<SimFreshFile>(*this, path, std::move(file)));
}

base::Result<std::unique_ptr<File>> SimDisk::create(const std::string& path) {
  const Lock lock(mutex_);
  TESSERA_TRY(const Inode inode, make(path, DiskOperation::Kind::kCreate));
  return std::unique_ptr<File>(std::make_unique<SimFile>(path, *this, inode, Access::kReadWrite));
}

base::Result<void> SimDisk::make_directory(const std::string& path) {
  const Lock lock(mutex_);
  TESSERA_TRY_VOID(make(path, DiskOperation::Kind::kMakeDirectory));
  return {};
}

base::Result<Inode> SimDisk::make(const std::string& path, DiskOperation::Kind kind) {
  if (const int error = count_operation(); error != 0) {
    return base::fail_errno(error, "create " + path);
  }
  TESSERA_TRY(Entry entry, find_entry(path));
  if (tree_.find(entry)) return base::fail_errno(EEXIST, "create " + path);
  const Inode inode = tree_.new_inode();
  record({.kind = kind, .inode = inode, .entry = std::move(entry)});
  return inode;
}

base::Result<void> SimDisk::remove(const std::string& path) {
  const Lock lock(mutex_);
  if (const int error = count_operation(); error != 0) {
    return base::fail_errno(error, "remove " + path);
  }
  TESSERA_TRY(const Inode inode, find_file(path));
  TESSERA_TRY(Entry entry, find_entry(path));
  record({.kind = DiskOperation::Kind::kRemove, .inode = inode, .entry = std::move(entry)});
  return {};
}

base::Result<void> SimDisk::rename(const std::string& from, const std::string& to) {
  const Lock lock(mutex_);
  const std::string what = "rename " + from + " to " + to;
  if (const int error = count_operation(); error != 0) return base::fail_errno(error, what);
  TESSERA_TRY(const Inode inode, find_file(from));
  TESSERA_TRY(Entry source, find_entry(from));
  TESSERA_TRY(Entry target, find_entry(to));
  const auto replaced = tree_.find(target);
  if (replaced == inode) return {};
  if (replaced && tree_.is_directory(*replaced)) return base::fail_errno(EISDIR, what);
  record({.kind = DiskOperation::Kind::kRename,
          .inode = inode,
          .entry = std::move(source),
          .to = std::move(target)});
  return {};
}

base::Result<std::vector<std::string>> SimDisk::list(const std::string& directory) {
  const Lock lock(mutex_);
  if (const int error = count_operation(); error != 0) {
    return base::fail_errno(error, "list " + directory);
  }
  TESSERA_TRY(const Inode inode, find_directory(directory));
  return tree_.names(inode);
}

base::Result<void> SimDisk::sync_directory(const std::string& directory) {
  const Lock lock(mutex_);
  const auto inode = find_directory(directory);
  if (!inode) {
    static_cast<void>(count_operation());
    return base::failure_of(inode);
  }
  return sync(*inode, "sync directory " + directory);
}

base::Result<void> SimDisk::sync(Inode inode, const std::string& what) {
  const int error = count_operation();
  record({.kind = error == 0 ? DiskOperation::Kind::kSync : DiskOperation::Kind::kSyncFailed,
          .inode = inode});
  if (error != 0) return base::fail_errno(error, what);
  return {};
}

DiskImage SimDisk::image() const {
  const Lock lock(mutex_);
  return tree_.image();
}

DiskLog SimDisk::log() const {
  const Lock lock(mutex_);
  return log_;
}

size_t SimDisk::log_size() const {
  const Lock lock(mutex_);
  return log_.operations.size();
}

void SimDisk::settle() {
  const Lock lock(mutex_);
  log_ = {tree_, {}};
}

uint64_t SimDisk::operation_count() const {
  const Lock lock(mutex_);
  return operation_count_;
}

void SimDisk::fail_operation(uint64_t nth, int errno_value) {
  TESSERA_ASSERT(nth > 0 && errno_value != 0);
  const Lock lock(mutex_);
  faults_[operation_count_ + nth] = errno_value;
}

void SimDisk::set_capacity(int64_t bytes) {
  const Lock lock(mutex_);
  capacity_bytes_ = bytes;
}

void SimDisk::set_attempt_max(int64_t bytes) {
  TESSERA_ASSERT(bytes > 0);
  const Lock lock(mutex_);
  attempt_bytes_max_ = bytes;
}

int SimDisk::count_operation() {
  const auto fault = faults_.find(++operation_count_);
  if (fault == faults_.end()) return 0;
  const int error = fault->second;
  faults_.erase(fault);
  return error;
}

base::Result<Inode> SimDisk::find_directory(const std::string& path) const {
  Inode directory = SimTree::kRoot;
  for (const std::string& part : parts_of(path)) {
    const auto inode = tree_.find({directory, part});
    if (!inode) return base::fail_errno(ENOENT, "find " + path);
    if (!tree_.is_directory(*inode)) return base::fail_errno(ENOTDIR, "find " + path);
    directory = *inode;
  }
  return directory;
}

base::Result<Entry> SimDisk::find_entry(const std::string& path) const {
  const std::vector<std::string> parts = parts_of(path);
  if (parts.empty()) return base::fail_errno(EISDIR, "find " + path);
  const std::string parent = path.substr(0, path.rfind(parts.back()));
  TESSERA_TRY(const Inode directory, find_directory(parent));
  return Entry{directory, parts.back()};
}

base::Result<Inode> SimDisk::find_file(const std::string& path) const {
  TESSERA_TRY(const Entry entry, find_entry(path));
  const auto inode = tree_.find(entry);
  if (!inode) return base::fail_errno(ENOENT, "find " + path);
  if (tree_.is_directory(*inode)) return base::fail_errno(EISDIR, "find " + path);
  return *inode;
}

int64_t SimDisk::room_to_grow() const {
  // Counting is O(files), so it is left out where nothing limits the growth.
  if (capacity_bytes_ == std::numeric_limits<int64_t>::max()) return capacity_bytes_;
  return std::max<int64_t>(0, capacity_bytes_ - tree_.used_bytes());
}

void SimDisk::record(DiskOperation operation) {
  tree_.apply(operation);
  log_.operations.push_back(std::move(operation));
}

}  // namespace tessera::port
