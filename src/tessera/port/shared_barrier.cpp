#include "tessera/port/shared_barrier.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/yield.hpp"

namespace tessera::port {

namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4);

constexpr int64_t kSleepNs = 1'000'000;
constexpr int64_t kSpinNs = 50'000;
// Longer than most ranks on other cores need for what they do before they come: waking costs more
// than it saves. MPI itself would not sleep at all.
constexpr int64_t kAwakeNs = 200'000;
// The same where ranks share cores: one of them that runs comes back here only with its arrival,
// and for one that is in a long system call nobody waits so.
constexpr int64_t kCrowdedAwakeNs = 50'000;
// Looks at the memory between two looks at the clock.
constexpr int kSpinLooks = 32;

// One look of a spinning core, which leaves the other thread of the core its share.
void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

SharedBarrier::WaitPolicy SharedBarrier::policy_for(int ranks, std::function<void()> idle) {
  const bool crowded = ranks > ::sysconf(_SC_NPROCESSORS_ONLN);
  if (crowded) return {0, kCrowdedAwakeNs, std::move(idle)};
  return {kSpinNs, kAwakeNs, std::move(idle)};
}

TESSERA_HOT SharedBarrier::Outcome SharedBarrier::wait(const Arrival& arrival, int ranks,
                                                       const WaitPolicy& policy) {
  const auto number = static_cast<uint32_t>(arrival.round);
  const auto all = static_cast<uint32_t>(ranks);
  const Round round = {number, number * all, number * all + all};
  if (arrival.has_payload) payload_[number % 2].store(number + 1, std::memory_order_relaxed);
  const uint32_t place = arrived_.fetch_add(1, std::memory_order_seq_cst) - round.first;
  if (broken() != 0) return passed(round) ? met(round) : Outcome::kBroken;
  TESSERA_ASSERT(place < all);
  if (place + 1 == all) {
    if (asleep_.load(std::memory_order_seq_cst) > 0) wake_all();
    return met(round);
  }
  wait_awake(round, policy);
  while (!passed(round)) {
    // Whoever broke it after the last rank had arrived did so after the round had passed.
    if (broken() != 0) return passed(round) ? met(round) : Outcome::kBroken;
    sleep(round);
    if (!passed(round) && policy.idle) policy.idle();
  }
  return met(round);
}

TESSERA_HOT SharedBarrier::Outcome SharedBarrier::met(const Round& round) const {
  const uint32_t last = payload_[round.number % 2].load(std::memory_order_relaxed);
  return last == round.number + 1 ? Outcome::kMet : Outcome::kMetWithoutPayload;
}

// Until the round is over, or nobody has arrived for as long as the policy says.
TESSERA_HOT void SharedBarrier::wait_awake(const Round& round, const WaitPolicy& policy) const {
  if (policy.awake_ns <= 0) return;
  const PosixClock clock;
  const int64_t begin = clock.now_ns();
  int64_t now = begin;
  int64_t last_arrival = begin;
  uint32_t arrived = arrived_.load(std::memory_order_relaxed);
  while (!is_over(round) && now - last_arrival < policy.awake_ns) {
    if (now - begin < policy.spin_ns) {
      look_often(round);
    } else {
      yield();
    }
    now = clock.now_ns();
    const uint32_t seen = arrived_.load(std::memory_order_relaxed);
    if (seen != arrived) last_arrival = now;
    arrived = seen;
  }
}

// Some looks without one at the clock.
TESSERA_HOT void SharedBarrier::look_often(const Round& round) const {
  for (int i = 0; i < kSpinLooks && !is_over(round); ++i) relax();
}

void SharedBarrier::break_up(uint32_t reason) {
  TESSERA_ASSERT(reason != 0);
  uint32_t whole = 0;
  broken_.compare_exchange_strong(whole, reason, std::memory_order_acq_rel);
  // A rank that is about to sleep misses this, and looks again within a millisecond.
  wake_all();
}

// Sleeps until the round has passed, a signal comes or a millisecond is over; not at all if someone
// arrives just now.
void SharedBarrier::sleep(const Round& round) {
  const timespec limit{0, kSleepNs};
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  const uint32_t seen = arrived_.load(std::memory_order_seq_cst);
  if (static_cast<int32_t>(seen - round.end) < 0) {
    ::syscall(SYS_futex, &arrived_, FUTEX_WAIT, seen, &limit, nullptr, 0);
  }
  asleep_.fetch_sub(1, std::memory_order_relaxed);
}

void SharedBarrier::wake_all() {
  ::syscall(SYS_futex, &arrived_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tessera::port
