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
