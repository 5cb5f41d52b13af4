#include "tessera/port/shared_barrier.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/port/posix_clock.hpp"

namespace tessera::port {

namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4);

constexpr int64_t kSleepNs = 1'000'000;
// Longer than most ranks on other cores need for what they do before they come: waking costs more
// than it saves. MPI itself would not sleep at all.
constexpr int64_t kSpinNs = 200'000;
// Some turns of all ranks on a core; a rank that is in a long system call is not waited for so.
constexpr int64_t kYieldNs = 50'000;
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

// The core that this thread may not leave; -1 if it has a choice.
int bound_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) != 1) return -1;
  return ::sched_getcpu();
}

}  // namespace

SharedBarrier::Patience SharedBarrier::patience_for(int ranks, std::function<void()> idle) {
  const bool crowded = ranks > ::sysconf(_SC_NPROCESSORS_ONLN);
  return {crowded ? kYieldNs : kSpinNs, crowded, crowded ? bound_core() : -1, std::move(idle)};
}

void SharedBarrier::settle(const Patience& patience) {
  if (patience.core >= 0) ++cores_[static_cast<size_t>(patience.core) % kCores].residents;
}

SharedBarrier::Outcome SharedBarrier::wait(uint64_t round_number, int ranks, Voice voice,
                                           const Patience& patience) {
  const auto number = static_cast<uint32_t>(round_number);
  const auto all = static_cast<uint32_t>(ranks);
  const Round round = {number, number * all, number * all + all};
  if (voice == Voice::kTells) told_[number % 2].store(number + 1, std::memory_order_relaxed);
  if (patience.core >= 0) ++cores_[static_cast<size_t>(patience.core) % kCores].arrived;
  const uint32_t place = arrived_.fetch_add(1, std::memory_order_seq_cst) - round.first;
  if (broken() != 0) return passed(round) ? met(round) : Outcome::kBroken;
  TESSERA_ASSERT(place < all);
  if (place + 1 == all) {
    if (asleep_.load(std::memory_order_seq_cst) > 0) wake_all();
    return met(round);
  }
  if (spin(round, patience) && passed(round)) return met(round);
  while (!passed(round)) {
    // Whoever broke it after the last rank had arrived did so after the round had passed.
    if (broken() != 0) return passed(round) ? met(round) : Outcome::kBroken;
    sleep(round);
    if (!passed(round) && patience.idle) patience.idle();
  }
  return met(round);
}

SharedBarrier::Outcome SharedBarrier::met(const Round& round) const {
  const uint32_t told = told_[round.number % 2].load(std::memory_order_relaxed);
  return told == round.number + 1 ? Outcome::kMet : Outcome::kMetSilently;
}

// Looks for as long as the rank is patient; whether there is nothing more to wait for.
bool SharedBarrier::spin(const Round& round, const Patience& patience) const {
  if (patience.spin_ns <= 0) return false;
  if (look(round, patience)) return true;
  const PosixClock clock;
  const int64_t end = clock.now_ns() + patience.spin_ns;
  do {
    if (look(round, patience)) return true;
  } while (clock.now_ns() < end);
  return false;
}

// Looks a few times, or once and offers the core.
bool SharedBarrier::look(const Round& round, const Patience& patience) const {
  const bool offers = patience.yields && !may_keep_core(round, patience);
  for (int i = 0; i < (offers ? 1 : kSpinLooks); ++i) {
    if (passed(round) || broken() != 0) return true;
    relax();
  }
  if (offers) ::sched_yield();
  return false;
}

// Whether no other rank has a use for this one's core: all that are bound to it have arrived.
bool SharedBarrier::may_keep_core(const Round& round, const Patience& patience) const {
  if (patience.core < 0) return false;
  const Core& core = cores_[static_cast<size_t>(patience.core) % kCores];
  const uint32_t all = (round.number + 1) * core.residents.load(std::memory_order_relaxed);
  return static_cast<int32_t>(core.arrived.load(std::memory_order_relaxed) - all) >= 0;
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
