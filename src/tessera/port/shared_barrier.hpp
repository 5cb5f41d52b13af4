// SharedBarrier: where the processes of a team meet; lives in memory that they share.
//
// A rank counts itself in, and has met the others once the count is that of all ranks in all rounds
// so far: one word of memory changes hands, and nobody has to let the others go. A rank looks at it
// for a while, which is less than going to sleep costs, and then sleeps on it in the kernel until
// the last one wakes all with one system call. Where there are more ranks than cores they offer
// their core between two looks, so that those who are still to come can use it; the last one of
// those that were seen on a core knows that none of them needs it, and keeps it for a while.
//   (B1) wait() answers that they have met only after all ranks have called it for this round, and
//        their writes before it are seen after it.
//   (B2) After break_up() no call waits: those that not all ranks have made answer kBroken.
//   (B3) kMetSilently is answered if every rank came silently: nobody has anything to look at.
// Zeroed memory is a barrier at which nobody has arrived. Thread safety: all functions from any
// process and thread; each rank waits once in each round.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

namespace tessera::port {

class SharedBarrier {
 public:
  enum class Outcome { kMet, kMetSilently, kBroken };
  // Whether a rank has left something for the others to look at.
  enum class Voice { kSilent, kTells };

  // How a rank waits.
  struct Patience {
    int64_t spin_ns = 0;         // looks at the memory for so long without news before it sleeps
    bool yields = false;         // offers its core between two looks
    std::function<void()> idle;  // called about every millisecond of sleep; may be empty
  };

  // On which core a rank was when it last came: its own, one for each rank and barrier.
  class Seat {
    friend class SharedBarrier;
    int core_ = -1;
  };

  SharedBarrier() = default;
  // One at which so many ranks have met in so many rounds already.
  SharedBarrier(uint64_t rounds, int ranks)
      : arrived_(static_cast<uint32_t>(rounds * static_cast<uint64_t>(ranks))) {}

  // Patience for so many ranks on this machine.
  [[nodiscard]] static Patience patience_for(int ranks, std::function<void()> idle);

  // Rounds are numbered from 0, on every rank alike.
  [[nodiscard]] Outcome wait(uint64_t round, int ranks, Voice voice, const Patience& patience,
                             Seat& seat);

  // Wakes everybody for good. `reason` is any number but 0; the first one stays.
  void break_up(uint32_t reason);
  // 0 while it is whole.
  [[nodiscard]] uint32_t broken() const { return broken_.load(std::memory_order_acquire); }

 private:
  // A round as a rank sees it; counts go around at 2^32.
  struct Round {
    uint32_t number;  // from 0
    uint32_t first;   // arrivals before it
    uint32_t end;     // and with it
  };

  [[nodiscard]] bool passed(const Round& round) const {
    return static_cast<int32_t>(arrived_.load(std::memory_order_acquire) - round.end) >= 0;
  }
  [[nodiscard]] Outcome met(const Round& round) const;
  [[nodiscard]] bool spin(const Round& round, const Patience& patience);
  [[nodiscard]] bool look(const Round& round, bool offers) const;
  [[nodiscard]] bool is_last_here(const Round& round);
  void sit_down(const Round& round, Seat& seat);
  void sleep(const Round& round);
  void wake_all();

  // What every rank looks at, on one line.
  alignas(64) std::atomic<uint32_t> arrived_ = 0;
  std::atomic<uint32_t> broken_ = 0;
  // One more than the number of the last round in which a rank was not silent, of even and of odd
  // ones: nobody begins the next but one before all have left a round.
  std::array<std::atomic<uint32_t>, 2> told_ = {};
  alignas(64) std::atomic<uint32_t> asleep_ = 0;

  // The ranks that were last seen on a core, and how many have come there in which round: a round
  // in the upper half, a count in the lower. Only who is there looks at it. Cores of which there
  // are more share one.
  struct alignas(64) Core {
    std::atomic<uint32_t> residents = 0;
    std::atomic<uint64_t> arrived = 0;
  };
  static constexpr size_t kCores = 256;
  [[nodiscard]] Core& core_here();
  std::array<Core, kCores> cores_ = {};
};

}  // namespace tessera::port
