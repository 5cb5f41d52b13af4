// SimDisk: a disk in memory that remembers how it came about, and fails when told.
//
// It logs every change and every sync, so that CrashStates can rebuild what a power loss may leave;
// kill -9 shows nothing of that, since the kernel keeps written pages. Faults are set from outside
// and strike at counted operations, so that a test can fail each operation of a scenario in turn.
// A file may have 1 GiB. Thread safety: as for Disk, and all other functions too. The files must go
// before the disk.
#pragma once

#include <limits>
#include <map>
#include <mutex>

#include "tessera/port/disk.hpp"
#include "tessera/port/sim_tree.hpp"

namespace tessera::port {

class SimDisk final : public Disk {
 public:
  SimDisk() = default;
  // A disk that holds the image durably.
  explicit SimDisk(const DiskImage& image);

  [[nodiscard]] base::Result<std::unique_ptr<File>> open(const std::string& path,
                                                         Access access) override;
  [[nodiscard]] base::Result<std::unique_ptr<File>> open_fresh(const std::string& reach,
                                                               const std::string& path,
                                                               Access access) override;
  [[nodiscard]] base::Result<std::unique_ptr<File>> create(const std::string& path) override;
  // A file of another name, which publish() renames.
  [[nodiscard]] base::Result<std::unique_ptr<FreshFile>> make_fresh(
      const std::string& path) override;
  [[nodiscard]] base::Result<void> remove(const std::string& path) override;
  [[nodiscard]] base::Result<void> rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] base::Result<void> make_directory(const std::string& path) override;
  [[nodiscard]] base::Result<std::vector<std::string>> list(const std::string& directory) override;
  [[nodiscard]] base::Result<void> sync_directory(const std::string& directory) override;

  // What is there now, durable or not. O(all bytes).
  [[nodiscard]] DiskImage image() const;
  // Everything since the start or the last settle(). O(all bytes).
  [[nodiscard]] DiskLog log() const;
  // The number of operations in the log: what a crash point is compared with.
  [[nodiscard]] size_t log_size() const;
  // Makes all that is there durable and empties the log.
  void settle();

  // Operations so far, of all kinds but size(); each try of a transfer is one.
  [[nodiscard]] uint64_t operation_count() const;
  // Makes the nth operation from now fail with the errno, once; the next one is n = 1. EINTR has
  // the effect it has on a system call. Several may be set.
  void fail_operation(uint64_t nth, int errno_value);
  // Writes and extensions that would make the files larger in sum end with ENOSPC.
  void set_capacity(int64_t bytes);
  // Makes each try of a transfer move at most so many bytes. Requires bytes > 0.
  void set_attempt_max(int64_t bytes);

 private:
  class SimFile;
  class SimFreshFile;

  // Counts an operation and answers the errno it has to fail with, or 0.
  int count_operation();
  [[nodiscard]] base::Result<Inode> find_directory(const std::string& path) const;
  [[nodiscard]] base::Result<Entry> find_entry(const std::string& path) const;
  [[nodiscard]] base::Result<Inode> find_file(const std::string& path) const;
  [[nodiscard]] base::Result<Inode> make(const std::string& path, DiskOperation::Kind kind);
  [[nodiscard]] base::Result<void> sync(Inode inode, const std::string& what);
  [[nodiscard]] int64_t room_to_grow() const;
  void record(DiskOperation operation);

  mutable std::mutex mutex_;
  SimTree tree_;
  DiskLog log_;
  uint64_t operation_count_ = 0;
  std::map<uint64_t, int> faults_;  // by the operation's number
  int64_t capacity_bytes_ = std::numeric_limits<int64_t>::max();
  int64_t attempt_bytes_max_ = std::numeric_limits<int64_t>::max();
};

}  // namespace tessera::port
