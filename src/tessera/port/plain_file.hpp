// PlainFile: a file of the machine's file systems, opened as a program asks for it.
//
// What Disk leaves out because no other store has it: permissions, creation modes, reservation of
// space, range locks that other programs see, and lists of many small transfers in few system calls
// (io_uring where it is quicker and the kernel has it, else preadv and pwritev; uring_list.hpp).
// Behind an emulated store (emulated_store.hpp) transfers wait for its requests, and the file is
// treated as that of another machine, whose file system has no range locks.
// A limit of file sizes (ulimit -f) makes what exceeds it fail with EFBIG, whenever it is set, and
// no signal comes with it (size_limit.hpp), but for writes that end before the farthest one that
// was made through this object without a limit. Thread safety: as File; range locks belong to the
// open file, not to the thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tessera/port/descriptor.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/emulated_store.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/uring_list.hpp"

namespace tessera::port {

struct OpenMode {
  bool read = true;
  bool write = false;
  bool create = false;
  bool exclusive = false;     // with create: fails with EEXIST if it is there
  bool direct = false;        // O_DIRECT
  mode_t permissions = 0666;  // of a new file, less the umask
};

enum class RangeLock { kShared, kExclusive, kUnlock };

class FileMapping;

class PlainFile final : public File {
 public:
  // Requires that the mode reads or writes. The descriptor is not inherited by other programs.
  // Fails with kInvalid where TESSERA_EMULATED_STORE makes no sense.
  [[nodiscard]] static base::Result<std::unique_ptr<PlainFile>> open(const std::string& path,
                                                                     const OpenMode& mode);
  // The same for a file that a user named: fails with kInvalid where something else than a regular
  // file is there, without opening it, since a pipe would make us wait for its other end.
  [[nodiscard]] static base::Result<std::unique_ptr<PlainFile>> open_regular(
      const std::string& path, const OpenMode& mode);
  // The same of what is at `place`, under the name that errors give it.
  [[nodiscard]] static base::Result<std::unique_ptr<PlainFile>> open_as(const std::string& path,
                                                                        const std::string& place,
                                                                        const OpenMode& mode);
  // A new file without a name, for reading and writing, on the file system that holds the path's
  // directory; path() is that path all the same. Fails with EOPNOTSUPP where it has none.
  [[nodiscard]] static base::Result<std::unique_ptr<PlainFile>> open_unnamed(
      const std::string& path, mode_t permissions);
  ~PlainFile() override;

  [[nodiscard]] base::Result<void> truncate(int64_t size) override;
  [[nodiscard]] base::Result<int64_t> size() override;
  [[nodiscard]] base::Result<void> sync() override;
  void begin_write_back(int64_t offset, int64_t size_bytes) override;
  [[nodiscard]] base::Result<void> reserve_range(int64_t begin, int64_t end) override;

  // Space for [0, size): writes there do not fail for want of it. Extends the file, never cuts it;
  // contents are kept. On file systems that cannot reserve, zeros are written behind the end, and
  // holes before it stay holes. After a failure the file may have grown. Requires size >= 0.
  [[nodiscard]] base::Result<void> reserve(int64_t size);

  // Waits for and takes, or gives back, a lock on [begin, end) that programs using fcntl locks see
  // (an open-file-description lock: two opens of one process exclude each other too). Fails with
  // EOPNOTSUPP or ENOLCK where the file system has none, with EBADF for a shared lock of a file
  // that is not open for reading or an exclusive one of a file that is not open for writing.
  // Requires 0 <= begin < end.
  [[nodiscard]] base::Result<void> lock_range(int64_t begin, int64_t end, RangeLock lock);
  // The same without waiting: false if somebody else has a lock there.
  [[nodiscard]] base::Result<bool> try_lock_range(int64_t begin, int64_t end, RangeLock lock);
  // Whether somebody else has a lock there that excludes this one; nothing is taken. False where
  // the file system has none.
  [[nodiscard]] bool is_locked_elsewhere(int64_t begin, int64_t end, RangeLock lock) const;

  // Which file this is, whatever name it was opened by.
  struct Identity {
    uint64_t device = 0;
    uint64_t node = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  [[nodiscard]] base::Result<Identity> identity() const;

  // Whether the file lies on a file system of this machine (ext4, xfs, btrfs, tmpfs), where other
  // machines do not write and a mapping is coherent. One system call, the first time.
  [[nodiscard]] bool is_local() const;
  // Whether whoever moves bytes may do so through a mapping: where it is local, unless the user of
  // the file wants none. From any thread.
  [[nodiscard]] bool may_map() const {
    return mapping_wanted_.load(std::memory_order_relaxed) && is_local();
  }
  void want_mapping(bool wanted) { mapping_wanted_.store(wanted, std::memory_order_relaxed); }

  // Whether the page at an offset is in memory already; an honest guess where the system does not
  // tell. The file must be open for reading. One system call.
  [[nodiscard]] bool is_cached(int64_t offset) const;

  // Whether nothing is stored at an offset, so that the page there is had without the disk; false
  // where the system does not tell. One system call.
  [[nodiscard]] bool is_hole(int64_t offset) const;

  // How lists are moved from now on; kAutomatic at first.
  void set_ring_use(RingUse use) { ring_use_ = use; }

  // That there was no limit of file sizes is remembered for as far as was written meanwhile, and
  // until limit_changes(). Whoever writes for a program forgets it now and then, for limits may
  // also be set from outside.
  void forget_limit() { unlimited_end_.store(0, std::memory_order_relaxed); }

  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override;
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override;
  int64_t read_bulk(std::span<const ReadSegment> segments) override;
  int64_t read_apart(std::span<const ReadSegment> segments) override;
  int64_t write_bulk(std::span<const WriteSegment> segments) override;

 private:
  enum class Suits { kUnknown, kYes, kNo };

  PlainFile(std::string path, Descriptor descriptor, EmulatedStore store);

  [[nodiscard]] bool is_limited(int64_t end);

  // The file in memory, of an emulated store, as far as it goes now; nothing where it cannot be.
  std::shared_ptr<const FileMapping> emulated_pages();

  const Descriptor descriptor_;
  const EmulatedStore store_;
  std::atomic<int64_t> unlimited_end_ = 0;             // of writes that were made without a limit
  std::atomic<uint64_t> unlimited_changes_ = 0;        // limit_changes() then
  Guarded<std::shared_ptr<const FileMapping>> pages_;  // what emulated_pages() found last
  std::atomic<RingUse> ring_use_ = RingUse::kAutomatic;
  std::atomic<Suits> ring_suits_ = Suits::kUnknown;  // for reads
  mutable std::atomic<Suits> mapping_suits_ = Suits::kUnknown;
  std::atomic<bool> mapping_wanted_ = true;
};

// What reserve() does on a file system that cannot reserve: writes zeros from the end of the file
// to `size`. Nothing is read and written back, which could undo the writes of others.
[[nodiscard]] base::Result<void> extend_with_zeros(File& file, int64_t size);

}  // namespace tessera::port
