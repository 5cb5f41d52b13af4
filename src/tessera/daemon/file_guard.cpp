#include "tessera/daemon/file_guard.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tessera::daemon {

namespace {

using lock::LockClient;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kTurnNs = 1000 * kMs;
constexpr int64_t kIdleNs = 20 * kMs;
constexpr int64_t kLookNs = 10 * kMs;  // while the clients have their turn
constexpr int64_t kTryNs = kMs;
// Enough for a program that waits in the system to wake up and take the file.
constexpr int64_t kPauseNs = 3 * kMs;

constexpr pattern::Interval kAllBytes = {0, pattern::kMaxPosition};

bool has_no_locks(const base::Error& error) {
  return error.errno_value == EOPNOTSUPP || error.errno_value == ENOLCK ||
         error.errno_value == EINVAL || error.errno_value == ENOSYS;
}

}  // namespace

FileGuard::FileGuard(lock::LockServer& server, std::unique_ptr<port::PlainFile> file,
                     std::string name)
    : server_(server),
      file_(std::move(file)),
      name_(std::move(name)),
      world_(server, kPeer, "other programs, by fcntl") {}

void FileGuard::start(int64_t now_ns) {
  take(now_ns);
  // Somebody outside has the file: from here on it is their turn.
  if (turn_ == Turn::kTaking) drain(now_ns, 0);
}

// Where the file may not be written, nobody here asks for more than a shared lock.
void FileGuard::take(int64_t now_ns) {
  next_try_ns_ = now_ns + kTryNs;
  auto taken = file_->try_lock_range(kAllBytes.begin, kAllBytes.end, port::RangeLock::kExclusive);
  if (!taken && taken.error().errno_value == EBADF) {
    taken = file_->try_lock_range(kAllBytes.begin, kAllBytes.end, port::RangeLock::kShared);
  }
  guards_ = taken || !has_no_locks(taken.error());
  if (guards_ && !(taken && *taken)) return;
  begin_clients_turn(now_ns);
}

void FileGuard::begin_clients_turn(int64_t now_ns) {
  turn_ = Turn::kClients;
  since_ns_ = busy_ns_ = now_ns;
  looked_ns_ = now_ns;
  used_ = takes_it_again_ = false;
  if (lock_) world_.release(*std::exchange(lock_, std::nullopt), now_ns);
}

void FileGuard::drain(int64_t now_ns, int64_t pause_ns) {
  turn_ = Turn::kDraining;
  pause_ns_ = pause_ns;
  lock_ = world_.acquire(
      {.file = name_, .claim = {pattern::ByteSet::of(kAllBytes).value()}, .recallable = true},
      now_ns);
}

bool FileGuard::idle() const { return server_.requests() == 0 && server_.board_use().claimed == 0; }

void FileGuard::see_use(int64_t now_ns) {
  looked_ns_ = now_ns;
  const uint64_t claims = server_.board_use().granted;
  const bool claimed = claims != std::exchange(claims_, claims);
  if (!claimed && idle()) return;
  busy_ns_ = now_ns;
  used_ = true;
}

void FileGuard::end_clients_turn(int64_t now_ns) {
  const bool on_board = server_.board_is_open();
  if (now_ns - since_ns_ >= kTurnNs && (on_board || !idle())) {
    takes_it_again_ = on_board && used_;
    drain(now_ns, kPauseNs);
  } else if (!on_board && now_ns - busy_ns_ >= kIdleNs) {
    drain(now_ns, 0);
  }
}

void FileGuard::see(const LockClient::Event& event, int64_t now_ns) {
  if (lock_ != event.sequence) return;
  switch (event.kind) {
    case LockClient::Event::Kind::kGranted:
      turn_ = Turn::kWorld;
      since_ns_ = now_ns;
      // Where the lock is held by others already, or there are none, nothing happens.
      static_cast<void>(
          file_->try_lock_range(kAllBytes.begin, kAllBytes.end, port::RangeLock::kUnlock));
      break;
    case LockClient::Event::Kind::kRecalled:
      turn_ = Turn::kTaking;
      next_try_ns_ = since_ns_ + pause_ns_;
      break;
    default:
      // Broken by an administrator: clients may have been granted something.
      lock_.reset();
      turn_ = Turn::kTaking;
      next_try_ns_ = now_ns;
      break;
  }
}

void FileGuard::advance(int64_t now_ns) {
  world_.advance(now_ns);
  for (const LockClient::Event& event : world_.take_events(now_ns)) see(event, now_ns);
  if (turn_ == Turn::kTaking && now_ns >= next_try_ns_) take(now_ns);
  if (turn_ == Turn::kWorld && takes_it_again_ && now_ns >= since_ns_ + pause_ns_) {
    takes_it_again_ = false;
    take(now_ns);
  }
  if (turn_ != Turn::kClients || !guards_) return;
  see_use(now_ns);
  end_clients_turn(now_ns);
}

std::optional<int64_t> FileGuard::next_due_ns() const {
  std::optional<int64_t> due = world_.next_due_ns();
  const auto sooner = [&](int64_t at_ns) { due = std::min(due.value_or(at_ns), at_ns); };
  if (turn_ == Turn::kTaking) sooner(next_try_ns_);
  if (turn_ == Turn::kWorld && takes_it_again_) sooner(since_ns_ + pause_ns_);
  if (turn_ == Turn::kClients && guards_) sooner(looked_ns_ + kLookNs);
  return due;
}

}  // namespace tessera::daemon
