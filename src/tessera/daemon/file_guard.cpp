#include "tessera/daemon/file_guard.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/lock/fcntl_locks.hpp"

namespace tessera::daemon {

namespace {

// Between two attempts to take the file: at once where it is locked for moments, without much work
// where it is locked for long.
constexpr int64_t kRetryNsMin = 50'000;
constexpr int64_t kRetryNsMax = 1'000'000;

// The mark is not one of them: guards on other nodes that want the file hold it as well.
constexpr pattern::Interval kMark = lock::kServerMark;
constexpr pattern::Interval kAllBytes = {0, kMark.begin};

bool has_no_locks(const base::Error& error) {
  return error.errno_value == EOPNOTSUPP || error.errno_value == ENOLCK ||
         error.errno_value == EINVAL || error.errno_value == ENOSYS;
}

}  // namespace

lock::Backing::Answer FileGuard::begin(const Turn& turn, int64_t now_ns) {
  if (state_ == State::kFree) try_to_take(now_ns);
  // When the turn is over this grants nothing more, however long requests keep coming before
  // advance() is called.
  if (state_ == State::kHeld && !is_over(now_ns)) {
    granted_.insert(turn.ticket);
    return Answer::kYes;
  }
  if (!turn.may_wait) return Answer::kNo;
  waiting_.push_back(turn.ticket);
  return Answer::kLater;
}

// Whether somebody else follows is known when the server is through with this: advance() looks.
void FileGuard::end(lock::Ticket ticket, int64_t /*now_ns*/) {
  if (granted_.erase(ticket) == 0) std::erase(waiting_, ticket);
}

// Where the file may not be written, nobody here asks for more than a shared lock.
bool FileGuard::take_range() {
  if (!has_ranges_) return true;
  auto taken = file_->try_lock_range(kAllBytes.begin, kAllBytes.end, port::RangeLock::kExclusive);
  if (!taken && taken.error().errno_value == EBADF) {
    taken = file_->try_lock_range(kAllBytes.begin, kAllBytes.end, port::RangeLock::kShared);
  }
  has_ranges_ = taken || !has_no_locks(taken.error());
  return !has_ranges_ || (taken && *taken);
}

// Programs outside that have had no time to take the file have had no turn either. The mark is
// shared, and locked before the range is tried again.
void FileGuard::try_to_take(int64_t now_ns) {
  const bool taken = take_range();
  static_cast<void>(file_->try_lock_range(kMark.begin, kMark.end, port::RangeLock::kShared));
  if (taken) {
    state_ = State::kHeld;
    retry_ns_ = 0;
    if (!given_back_ns_ || now_ns - *given_back_ns_ >= kPauseNs) since_ns_ = now_ns;
    return;
  }
  state_ = State::kTaking;
  retry_ns_ = std::clamp(2 * retry_ns_, kRetryNsMin, kRetryNsMax);
  next_try_ns_ = now_ns + retry_ns_;
}

// There are no turns in the grace period, nor where nobody outside can lock the file.
bool FileGuard::is_over(int64_t now_ns) const {
  return has_ranges_ && !in_grace_ && now_ns - since_ns_ >= kTurnNs;
}

void FileGuard::give_back(int64_t now_ns) {
  TESSERA_ASSERT(granted_.empty());
  if (!has_ranges_) return;
  static_cast<void>(file_->try_lock_range(kAllBytes.begin, kMark.end, port::RangeLock::kUnlock));
  if (holds_file()) given_back_ns_ = now_ns;
  state_ = State::kFree;
  retry_ns_ = 0;
}

void FileGuard::drain(lock::LockServer& server) {
  state_ = State::kDraining;
  for (const lock::Ticket ticket : granted_) server.recall(ticket);
}

void FileGuard::advance(lock::LockServer& server, int64_t now_ns) {
  // Clients of a server before this one may be using locks that they have not reclaimed yet.
  in_grace_ = server.in_grace();
  if (in_grace_ && state_ == State::kFree) try_to_take(now_ns);
  const bool retries = state_ == State::kTaking || state_ == State::kPausing;
  if (retries && now_ns >= next_try_ns_) try_to_take(now_ns);
  if (state_ == State::kHeld && is_over(now_ns)) drain(server);
  if (state_ == State::kHeld) {
    for (const lock::Ticket ticket : std::exchange(waiting_, {})) {
      granted_.insert(ticket);
      server.backed(ticket, now_ns);
    }
  }
  if (!granted_.empty()) return;
  if (state_ == State::kDraining) {
    give_back(now_ns);
    state_ = State::kPausing;
    next_try_ns_ = now_ns + kPauseNs;
  }
  if (waiting_.empty() && state_ != State::kFree && !in_grace_) give_back(now_ns);
}

std::optional<int64_t> FileGuard::next_due_ns() const {
  if (state_ == State::kTaking || state_ == State::kPausing) return next_try_ns_;
  if (state_ == State::kHeld && has_ranges_ && !in_grace_) return since_ns_ + kTurnNs;
  return std::nullopt;
}

bool FileGuard::is_deleted() const {
  struct stat status {};
  return ::fstat(file_->descriptor(), &status) == 0 && status.st_nlink == 0;
}

}  // namespace tessera::daemon
