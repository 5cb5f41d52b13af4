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
#include "tessera/base/hot.hpp"
#include "tessera/port/posix_clock.hpp"

namespace tessera::port {

namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4);

constexpr int64_t kSleepNs = 1'000'000;
// Without an arrival anywhere. Longer than most ranks on other cores need for what they do before
// they come: waking costs more than it saves. MPI itself would not sleep at all.
constexpr int64_t kSpinNs = 200'000;
// The same where ranks on this core are still to come: one of them that runs comes back here only
// with its arrival, and for one that is in a long system call nobody waits so.
constexpr int64_t kYieldNs = 50'000;
// For which a rank keeps a core that no other rank seems to need: who is where is known from the
// last round only, and other programs may want it too.
constexpr int64_t kKeepNs = 10'000;
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

SharedBarrier::Patience SharedBarrier::patience_for(int ranks, std::function<void()> idle) {
  const bool crowded = ranks > ::sysconf(_SC_NPROCESSORS_ONLN);
  return {kSpinNs, crowded, std::move(idle)};
}

TESSERA_HOT SharedBarrier::Outcome SharedBarrier::wait(uint64_t round_number, int ranks,
                                                       Voice voice, const Patience& patience,
                                                       Seat& seat) {
  const auto number = static_cast<uint32_t>(round_number);
  const auto all = static_cast<uint32_t>(ranks);
  const Round round = {number, number * all, number * all + all};
  if (voice == Voice::kTells) told_[number % 2].store(number + 1, std::memory_order_relaxed);
  if (patience.yields) sit_down(round, seat);
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

TESSERA_HOT SharedBarrier::Core& SharedBarrier::core_here() {
  // A system that does not tell makes one core of all.
  return cores_[static_cast<size_t>(std::max(::sched_getcpu(), 0)) % kCores];
}

// Says that this rank has come, to those on the same core.
TESSERA_HOT void SharedBarrier::sit_down(const Round& round, Seat& seat) {
  Core& core = core_here();
  const auto index = static_cast<int>(&core - cores_.data());
  if (seat.core_ != index) {
    if (seat.core_ >= 0) --cores_[static_cast<size_t>(seat.core_)].residents;
    ++core.residents;
    seat.core_ = index;
  }
  const uint64_t first = uint64_t{round.number} << 32 | 1;
  uint64_t seen = core.arrived.load(std::memory_order_relaxed);
  while (!core.arrived.compare_exchange_weak(seen, seen >> 32 == round.number ? seen + 1 : first,
                                             std::memory_order_relaxed)) {
  }
}

TESSERA_HOT SharedBarrier::Outcome SharedBarrier::met(const Round& round) const {
  const uint32_t told = told_[round.number % 2].load(std::memory_order_relaxed);
  return told == round.number + 1 ? Outcome::kMet : Outcome::kMetSilently;
}

// Looks for as long as the rank is patient; whether there is nothing more to wait for.
TESSERA_HOT bool SharedBarrier::spin(const Round& round, const Patience& patience) {
  if (patience.spin_ns <= 0) return false;
  if (look(round, patience.yields && !is_last_here(round))) return true;
  const PosixClock clock;
  const int64_t begin = clock.now_ns();
  int64_t now = begin;
  int64_t last_arrival = begin;
  uint32_t arrived = arrived_.load(std::memory_order_relaxed);
  bool others_work_here = false;
  do {
    const bool last = is_last_here(round);
    const bool keeps = last && now - begin < kKeepNs;
    if (look(round, patience.yields && !keeps)) return true;
    now = clock.now_ns();
    const uint32_t seen = arrived_.load(std::memory_order_relaxed);
    if (seen != arrived) last_arrival = now;
    arrived = seen;
    others_work_here = patience.yields && !last;
  } while (now - last_arrival < (others_work_here ? kYieldNs : patience.spin_ns));
  return false;
}

// Looks a few times, or offers the core between two looks.
TESSERA_HOT bool SharedBarrier::look(const Round& round, bool offers) const {
  const auto over = [&] { return passed(round) || broken() != 0; };
  if (offers) {
    if (over()) return true;
    ::sched_yield();
    return over();
  }
  for (int i = 0; i < kSpinLooks; ++i) {
    if (over()) return true;
    relax();
  }
  return false;
}

// Whether no other rank has a use for this core: all that were last seen on it have arrived.
TESSERA_HOT bool SharedBarrier::is_last_here(const Round& round) {
  const Core& core = core_here();
  const uint64_t arrived = core.arrived.load(std::memory_order_relaxed);
  const uint64_t here = arrived >> 32 == round.number ? arrived & UINT32_MAX : 0;
  return here >= core.residents.load(std::memory_order_relaxed);
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
