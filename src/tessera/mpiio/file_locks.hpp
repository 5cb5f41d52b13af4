// FileLocks: what the accesses of an open file lock, and who arbitrates.
//
// There are two arbiters. Ranges of the file system (fcntl) are exact for accesses of one run, cost
// little, and every other program sees them; but a set of many runs becomes its span. The lock
// service locks any set exactly. A server of the service that was started for a plain file keeps
// its clients and the users of ranges apart (daemon/file_guard.hpp), so both exclude each other;
// but each access that changes from one to the other has to wait for the other's moment.
//   (ARBITER-1) An open file begins with ranges. Once its views need the service, or another open
//        file of one of its processes uses it, all of its ranks do, until the file is closed.
//   (ARBITER-2) Whoever locks by ranges looks, at its first access and then every kLookNs, for the
//        mark of a server, and for a server that another open file of its process uses, and from
//        then on uses that one, too. So soon after somebody needs the service it is the one arbiter
//        of the file, for all open files of all jobs that can reach it; meanwhile, and for all
//        others, the server's guard keeps both apart.
//   (ARBITER-3) In atomic mode an access that is not covered by a cached lock is locked by itself.
//   (ARBITER-4) A rank caches a lock of its whole view only if no other rank's view has a byte of
//        it; any change of a view of the file ends that.
// What is locked in atomic mode is chosen by the hints tessera_lock, tessera_lock_reads and
// tessera_lock_private.
// Thread safety: acquire() and lock_access() from any thread; settle() is collective, and no access
// may run meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/lock/cached_lock.hpp"
#include "tessera/lock/fcntl_locks.hpp"
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
struct FileService;

class FileLocks final : public lock::Locks {
 public:
  // Requires that the file outlives it.
  explicit FileLocks(port::PlainFile& file) : file_(file), ranges_(file) {}
  ~FileLocks() override;

  // For engines that write gaps back: the bytes, by the service if it arbitrates, else by ranges.
  // Where the file system has none the service is reached without the other ranks: on this node,
  // or where TESSERA_LOCKS says.
  [[nodiscard]] base::Result<lock::Held> acquire(const pattern::ByteSet& bytes,
                                                 lock::Mode mode) override;

  // For an access in atomic mode, as settle() has arranged it. The bytes ascend, or not: then their
  // span is locked.
  [[nodiscard]] base::Result<lock::Held> lock_access(const pattern::Pattern& bytes,
                                                     move::Direction direction);

  // Whether accesses of one run in atomic mode are locked by ranges that are exactly theirs, as far
  // as is known now; and the lock of such an access.
  [[nodiscard]] bool locks_runs_by_ranges() const {
    return locks_ && extent_ != move::LockHint::kFile && !served_;
  }
  [[nodiscard]] base::Result<lock::Held> lock_run(pattern::Interval bytes,
                                                  move::Direction direction) {
    return lock_by_range(bytes, mode_of(direction));
  }

  // Arranges with all ranks what is locked from now on, and who arbitrates. Collective; to be
  // called when atomic mode begins, and when a view or a hint changes while it lasts.
  [[nodiscard]] base::Result<void> settle(const move::Hints& hints, const FileView& view,
                                          bool only_read, Group& group);

  // Atomic mode is over: no lock is cached any more.
  void drop_cached_lock();

  // One line for those who want to know how the file is locked.
  [[nodiscard]] std::string explanation() const;

 private:
  struct Share;  // what a rank tells the others in settle()
  struct Offer;  // what the first rank tells of the service

  // Whether the service is to arbitrate from now on; else why_ says why it cannot.
  [[nodiscard]] base::Result<bool> choose_service(const std::vector<Share>& shares, Group& group);
  // Servers that TESSERA_LOCKS names on all ranks, or one of this file.
  [[nodiscard]] base::Result<FileService> find_service(Group& group, bool servers);
  [[nodiscard]] base::Result<Offer> offer_service(Group& group);
  [[nodiscard]] base::Result<void> reach_service_alone();
  // Whether the service arbitrates, also because another process uses a server of the file by now.
  [[nodiscard]] bool is_served();
  void join_server();
  [[nodiscard]] base::Result<FileService> find_service_alone();
  // The server of this file alone on this node.
  [[nodiscard]] base::Result<FileService> own_server(const std::string& name);
  // From here on the service arbitrates.
  void use(FileService service);
  [[nodiscard]] bool has_ranges(bool only_read);
  [[nodiscard]] lock::Mode mode_of(move::Direction direction) const {
    const bool shared = direction == move::Direction::kRead && !reads_alone_;
    return shared ? lock::Mode::kShared : lock::Mode::kExclusive;
  }
  [[nodiscard]] base::Result<lock::Held> lock_by_range(pattern::Interval bytes, lock::Mode mode);
  [[nodiscard]] base::Result<lock::Held> lock_by_service(pattern::ByteSet bytes, lock::Mode mode);
  // The access under the cached lock of the view, if there is one or one can be had.
  [[nodiscard]] std::optional<lock::Held> lock_by_cached();
  [[nodiscard]] std::shared_ptr<lock::CachedLock> cached_lock();

  port::PlainFile& file_;
  lock::FcntlLocks ranges_;
  const port::PosixClock clock_;
  bool locks_ = false;  // in atomic mode: settled, and not by the hint that nothing is locked
  move::LockHint extent_ = move::LockHint::kList;
  bool reads_alone_ = false;
  std::string why_;
  bool arranged_ = false;  // all ranks have reached the same service

  // The service, by which an access is locked once served_ is set. Set once between two calls of
  // settle(), by whoever has reaching_.
  std::string name_;  // of the file in messages
  std::shared_ptr<lock::LockAgent> agent_;
  std::atomic<bool> served_ = false;
  std::atomic<int64_t> look_at_ns_ = 0;  // for the mark of a server
  // What came of reaching the service alone; nothing if that was not tried.
  port::Guarded<std::optional<base::Result<void>>> reaching_;

  // The view, where no other rank has a byte of it, and the lock on it.
  struct Caching {
    std::optional<pattern::ByteSet> bytes;
    lock::Mode mode = lock::Mode::kExclusive;
    std::shared_ptr<lock::CachedLock> lock;
    int64_t not_before_ns = 0;

    // Notes whether it was worth it; also where views change at each access.
    void forget_lock(int64_t now_ns);
  };
  port::Guarded<Caching> caching_;
};

}  // namespace tessera::mpiio
