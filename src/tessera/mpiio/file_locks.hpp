// FileLocks: what the accesses of an open file lock, and by which means.
//
// There are two means. Ranges of the file system (fcntl) are exact for accesses of one run, cost
// little, and every other program sees them; but a set of many runs becomes its span. The lock
// service locks any set exactly. A server of the service that was started for a plain file keeps
// its clients and the users of ranges apart, so both means exclude each other.
//   (F1) All ranks of a file use the same means at a time: what a list would lock for one rank and
//        a range for another are then granted by one arbiter.
//   (F2) In atomic mode an access that is not covered by a kept lock is locked by itself.
//   (F3) A rank keeps a lock of its whole view only if no other rank's view has a byte of it; any
//        change of a view of the file ends that.
// What is locked in atomic mode is chosen by the hints tessera_lock, tessera_lock_reads and
// tessera_lock_private.
// Thread safety: acquire() and lock_access() from any thread; settle() is collective, and no access
// may run meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/lock/fcntl_locks.hpp"
#include "tessera/lock/kept_lock.hpp"
#include "tessera/lock/lock_agent.hpp"
#include "tessera/move/hints.hpp"
#include "tessera/move/move.hpp"
#include "tessera/mpiio/group.hpp"
#include "tessera/pattern/view.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/posix_clock.hpp"

namespace tessera::mpiio {

struct FileView;
struct LockServerPlace;

class FileLocks final : public lock::Locks {
 public:
  // Requires that the file outlives it.
  explicit FileLocks(port::PlainFile& file) : file_(file), ranges_(file) {}
  ~FileLocks() override;

  // For engines that write gaps back: the bytes, by ranges if the file system has them, else by the
  // service, which is then reached without the other ranks: on this node, or where TESSERA_LOCKS
  // says.
  [[nodiscard]] base::Result<lock::Held> acquire(const pattern::ByteSet& bytes,
                                                 lock::Mode mode) override;

  // For an access in atomic mode, as settle() has arranged it. The bytes ascend, or not: then their
  // span is locked.
  [[nodiscard]] base::Result<lock::Held> lock_access(const pattern::Pattern& bytes,
                                                     move::Direction direction);

  // Whether accesses of one run in atomic mode are locked by ranges that are exactly theirs; and
  // the lock of such an access.
  [[nodiscard]] bool locks_runs_by_ranges() const {
    return means_ == Means::kRanges && extent_ != move::LockHint::kFile;
  }
  [[nodiscard]] base::Result<lock::Held> lock_run(pattern::Interval bytes,
                                                  move::Direction direction) {
    return ranges_.acquire_run(bytes, mode_of(direction));
  }

  // Arranges with all ranks what is locked from now on, and by which means. Collective; to be
  // called when atomic mode begins, and when a view or a hint changes while it lasts.
  [[nodiscard]] base::Result<void> settle(const move::Hints& hints, const FileView& view,
                                          bool only_read, Group& group);

  // Atomic mode is over: no lock is kept any more.
  void stop_keeping();

  // One line for those who want to know how the file is locked.
  [[nodiscard]] std::string explanation() const;

 private:
  enum class Means { kNothing, kRanges, kService };
  struct Share;  // what a rank tells the others in settle()

  [[nodiscard]] base::Result<Means> choose_means(const std::vector<Share>& shares, Group& group);
  // At servers that TESSERA_LOCKS names on all ranks, or at one of this file.
  [[nodiscard]] base::Result<void> reach_service(Group& group, bool servers);
  [[nodiscard]] base::Result<void> reach_service_alone();
  // One that TESSERA_LOCKS names; one of this file alone on this node; one at some place.
  [[nodiscard]] base::Result<void> use_server();
  [[nodiscard]] base::Result<void> use_own_server(const port::PlainFile::Identity& identity);
  [[nodiscard]] base::Result<void> use_agent(const LockServerPlace& place);
  [[nodiscard]] bool has_ranges(bool only_read);
  [[nodiscard]] lock::Mode mode_of(move::Direction direction) const {
    const bool shared = direction == move::Direction::kRead && !reads_alone_;
    return shared ? lock::Mode::kShared : lock::Mode::kExclusive;
  }
  [[nodiscard]] base::Result<lock::Held> lock_by_service(pattern::ByteSet bytes, lock::Mode mode);
  // The access under the kept lock of the view, if there is one or one can be had.
  [[nodiscard]] std::optional<lock::Held> lock_by_kept();
  [[nodiscard]] std::shared_ptr<lock::KeptLock> kept_lock();

  port::PlainFile& file_;
  lock::FcntlLocks ranges_;
  const port::PosixClock clock_;
  Means means_ = Means::kNothing;
  move::LockHint extent_ = move::LockHint::kList;
  bool reads_alone_ = false;
  std::string why_;
  std::string name_;  // of the file in messages
  std::shared_ptr<lock::LockAgent> agent_;
  bool arranged_ = false;  // all ranks have reached the same service
  // What came of reaching the service alone; nothing if that was not tried.
  port::Guarded<std::optional<base::Result<void>>> reached_alone_;

  // The view, where no other rank has a byte of it, and the lock on it.
  struct Keeping {
    std::optional<pattern::ByteSet> bytes;
    lock::Mode mode = lock::Mode::kExclusive;
    std::shared_ptr<lock::KeptLock> lock;
    int64_t not_before_ns = 0;
  };
  port::Guarded<Keeping> keeping_;
};

}  // namespace tessera::mpiio
