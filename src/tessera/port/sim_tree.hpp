// SimTree: the files and directories of a simulated disk, and the log of what changed them.
//
// The live SimDisk and the rebuilding of crash states apply operations through the same functions,
// so that both agree on what an operation means. Files and directories are inodes: a name that is
// lost does not undo what happened to the file it named.
// Thread safety: as for any value type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tessera/base/bytes.hpp"

namespace tessera::port {

// Everything that can be reached by a path. Paths have no leading '/'.
struct DiskImage {
  std::map<std::string, base::Bytes> files;
  std::set<std::string> directories;

  bool operator==(const DiskImage&) const = default;
};

using Inode = uint64_t;

// A name inside a directory.
struct Entry {
  Inode directory = 0;
  std::string name;
};

struct DiskOperation {
  enum class Kind {
    kCreate,         // inode, entry
    kMakeDirectory,  // inode, entry
    kRemove,         // inode, entry
    kRename,         // inode, entry, to
    kWrite,          // inode, offset, bytes
    kTruncate,       // inode, offset: the new size
    kSync,           // inode: a file or a directory
    kSyncFailed,     // inode: what was unsynced then stays so
  };

  Kind kind;
  Inode inode = 0;
  Entry entry = {};
  Entry to = {};
  int64_t offset = 0;
  base::Bytes bytes = {};
};

class SimTree {
 public:
  static constexpr Inode kRoot = 0;

  SimTree();
  // A tree with exactly these files and directories, and the directories above them.
  explicit SimTree(const DiskImage& image);

  // Inodes are never used again.
  [[nodiscard]] Inode new_inode() { return next_inode_++; }
  [[nodiscard]] bool is_directory(Inode inode) const { return directories_.contains(inode); }
  [[nodiscard]] std::optional<Inode> find(const Entry& entry) const;
  // Requires that the inode is a directory.
  [[nodiscard]] std::vector<std::string> names(Inode directory) const;
  // Requires that the inode is a file.
  [[nodiscard]] const base::Bytes& content(Inode file) const { return files_.at(file); }

  // 0 for an inode of which nothing was written.
  [[nodiscard]] int64_t size(Inode file) const;

  // The effect of an operation as a whole. Syncs have none.
  void apply(const DiskOperation& operation);
  // The effect of a part of a write.
  void write(Inode file, int64_t offset, base::ByteView bytes);
  void set_size(Inode file, int64_t size);

  // O(all bytes).
  [[nodiscard]] DiskImage image() const;
  // Bytes in all files that have a name. O(files).
  [[nodiscard]] int64_t used_bytes() const;

 private:
  void make(const DiskOperation& operation);
  void unlink(const Entry& entry, Inode expected);
  void collect(Inode directory, const std::string& prefix, DiskImage& image) const;

  Inode next_inode_ = kRoot + 1;
  std::map<Inode, std::map<std::string, Inode>> directories_;
  std::map<Inode, base::Bytes> files_;
};

// What happened to a disk since it was last known to be durable as a whole.
struct DiskLog {
  SimTree initial;
  std::vector<DiskOperation> operations;
};

}  // namespace tessera::port
