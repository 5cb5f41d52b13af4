// CachedLock: a lock that its process keeps for the next access, until somebody else waits for it.
//
// Accesses that come back to the same bytes then cost no message. Who keeps the connection to the
// server (LockAgent) tells it of recalls, losses and of how long the lease lasts.
//   (CACHED-1) begin() succeeds only while the lock is held, for a while yet, and nobody waits for
//        it.
//   (CACHED-2) Once it is recalled, the lock goes back when the last access that has begun ends;
//   once.
// Thread safety: all functions from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "tessera/base/result.hpp"

namespace tessera::lock {

class CachedLock {
 public:
  // `give_back` is called once, by whoever is the last to need it.
  explicit CachedLock(std::function<void()> give_back) : give_back_(std::move(give_back)) {}

  // Whether an access may use the lock, until it calls end().
  [[nodiscard]] bool begin(int64_t now_ns) {
    ++users_;
    if (!over_ && now_ns < usable_until_ns_) {
      ++uses_;
      return true;
    }
    leave();
    return false;
  }
  void end() { leave(); }
  // Fails with kDenied, and says so, if the lock was lost since begin().
  [[nodiscard]] base::Result<void> confirm(int64_t now_ns) const {
    if (!lost_ && now_ns < held_until_ns_) return {};
    return base::fail(base::Code::kDenied, "a lock was taken away while it was in use");
  }

  // Somebody waits for it, or its owner needs it no more.
  void recall() {
    ++users_;
    over_ = true;
    leave();
  }
  // It is not held any more.
  void lose() {
    lost_ = true;
    recall();
  }
  // It is held until then, and may be put to use before.
  void extend(int64_t held_until_ns, int64_t margin_ns) {
    held_until_ns_ = held_until_ns;
    usable_until_ns_ = held_until_ns - margin_ns;
  }

  // Accesses that have begun under it.
  [[nodiscard]] int64_t uses() const { return uses_; }
  // Whether no access can begin any more.
  [[nodiscard]] bool over() const { return over_; }

 private:
  // An access that begins while the lock is recalled either sees that, or is counted by then.
  void leave() {
    if (--users_ == 0 && over_ && !given_back_.exchange(true)) give_back_();
  }

  const std::function<void()> give_back_;
  std::atomic<int> users_ = 0;
  std::atomic<int64_t> uses_ = 0;
  std::atomic<bool> over_ = false;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> given_back_ = false;
  std::atomic<int64_t> held_until_ns_ = 0;
  std::atomic<int64_t> usable_until_ns_ = 0;
};

}  // namespace tessera::lock
