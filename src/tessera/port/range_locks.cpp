#include "tessera/port/range_locks.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"

namespace tessera::port {

namespace {

struct Range {
  int64_t begin;
  int64_t end;
  friend bool operator==(const Range&, const Range&) = default;
};

// Whether the file system has no locks, as on some mounts of network file systems.
bool means_unsupported(const base::Error& error) {
  return error.errno_value == ENOLCK || error.errno_value == EOPNOTSUPP ||
         error.errno_value == ENOSYS;
}

}  // namespace

struct RangeLocks::State {
  // Waits until no thread of this process holds a byte of the range, then holds it.
  void hold(Range range) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] {
      return std::none_of(held.begin(), held.end(), [&](const Range& other) {
        return other.begin < range.end && range.begin < other.end;
      });
    });
    held.push_back(range);
  }

  void let_go(Range range) {
    const std::lock_guard lock(mutex);
    const auto found = std::find(held.begin(), held.end(), range);
    TESSERA_ASSERT(found != held.end());
    held.erase(found);
    changed.notify_all();
  }

  LockRange lock_range;
  std::atomic<bool> supported = true;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Range> held;  // disjoint; also those that still wait for the file system
};

RangeLocks::RangeLocks(PlainFile& file)
    : RangeLocks([&file](int64_t begin, int64_t end, RangeLock lock) {
        return file.lock_range(begin, end, lock);
      }) {}

RangeLocks::RangeLocks(LockRange lock_range) : state_(std::make_unique<State>()) {
  state_->lock_range = std::move(lock_range);
}

RangeLocks::~RangeLocks() = default;

base::Result<void> RangeLocks::acquire(int64_t begin, int64_t end, RangeLock lock) {
  TESSERA_ASSERT(begin < end && lock != RangeLock::kUnlock);
  state_->hold({begin, end});
  if (!supported()) return {};
  auto locked = state_->lock_range(begin, end, lock);
  if (locked) return {};
  if (means_unsupported(locked.error())) {
    state_->supported = false;
    return {};
  }
  state_->let_go({begin, end});
  return locked;
}

void RangeLocks::release(int64_t begin, int64_t end) {
  // The file system first: a thread that is let in here must not lose its lock to this unlock. Its
  // answer changes nothing; what it does not give back now goes when the file is closed.
  if (supported()) (void)state_->lock_range(begin, end, RangeLock::kUnlock);
  state_->let_go({begin, end});
}

bool RangeLocks::supported() const { return state_->supported; }

}  // namespace tessera::port
