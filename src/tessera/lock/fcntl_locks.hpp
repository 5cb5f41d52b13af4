// FcntlLocks: locks on the bytes of one open file, by the ranges of its file system.
//
// The lock service of a single file system: every program that uses fcntl locks takes part, so that
// jobs of Tessera and of other MPI-IO libraries exclude each other. A set is covered by the range
// from its first byte to its last, since a set of many ranges cannot be taken whole or not at all.
// On a file system without locks only the threads of this process exclude each other (supported()).
// Thread safety: as Locks. A thread holds one lock of a file at a time.
#pragma once

#include "tessera/lock/locks.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/range_locks.hpp"

namespace tessera::lock {

// A byte that no access reaches, by which the server of a file shows that it has clients: it locks
// it while they hold locks of the file or wait for them. Whoever locks the whole file by fcntl
// looks the same, for as long.
inline constexpr pattern::Interval kServerMark = {pattern::kMaxPosition - 2,
                                                  pattern::kMaxPosition - 1};

// Whether it is locked by others than this open file.
[[nodiscard]] inline bool is_marked(const port::PlainFile& file) {
  return file.is_locked_elsewhere(kServerMark.begin, kServerMark.end, port::RangeLock::kExclusive);
}

class FcntlLocks final : public Locks {
 public:
  // Requires that the file outlives it, and that it outlives whatever it granted.
  explicit FcntlLocks(port::PlainFile& file) : ranges_(file) {}

  // Fails with EBADF for a shared lock of a file that is not open for reading, or an exclusive one
  // of a file that is not open for writing.
  [[nodiscard]] base::Result<Held> acquire(const pattern::ByteSet& bytes, Mode mode) override;

  // The same for one run. Requires begin < end.
  [[nodiscard]] base::Result<Held> acquire_run(pattern::Interval bytes, Mode mode);

  // False once the file system has answered that it has no locks.
  [[nodiscard]] bool supported() const { return ranges_.supported(); }

 private:
  port::RangeLocks ranges_;
};

}  // namespace tessera::lock
