// SharedBarrier: a barrier for the processes of a team; lives in memory that they share.
//
// A rank counts itself in, and has met the others once the count is that of all ranks in all rounds
// so far: one word of memory changes hands, and nobody has to release the others. A waiting rank
// spins briefly, then yields its core between two looks, and then sleeps on a futex until the last
// rank wakes all with one system call. Where there are more ranks than cores nobody spins: those
// who are still to come need the cores.
//   (B1) wait() answers that they have met only after all ranks have called it for this round, and
//        their writes before it are seen after it.
//   (B2) After break_up() no call waits: those that not all ranks have made answer kBroken.
//   (B3) kMetWithoutPayload is answered if no rank has brought a payload: there is nothing to read.
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
  enum class Outcome { kMet, kMetWithoutPayload, kBroken };

  // How a rank waits.
  struct WaitPolicy {
    int64_t spin_ns = 0;         // keeps its core for so long
    int64_t awake_ns = 0;        // sleeps once nobody has arrived for so long
    std::function<void()> idle;  // called about every millisecond of sleep; may be empty
  };

  SharedBarrier() = default;
  // One at which so many ranks have met in so many rounds already.
  SharedBarrier(uint64_t rounds, int ranks)
      : arrived_(static_cast<uint32_t>(rounds * static_cast<uint64_t>(ranks))) {}

  // The policy of so many ranks on this machine.
  [[nodiscard]] static WaitPolicy policy_for(int ranks, std::function<void()> idle);

  // A rank's arrival. Rounds are numbered from 0, on every rank alike.
  struct Arrival {
    uint64_t round = 0;
    bool has_payload = true;  // the rank has left something for the others to read
  };
  [[nodiscard]] Outcome wait(const Arrival& arrival, int ranks, const WaitPolicy& policy);

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
  [[nodiscard]] bool is_over(const Round& round) const { return passed(round) || broken() != 0; }
  void wait_awake(const Round& round, const WaitPolicy& policy) const;
  void look_often(const Round& round) const;
  void sleep(const Round& round);
  void wake_all();

  // What every rank looks at, on one line.
  alignas(64) std::atomic<uint32_t> arrived_ = 0;
  std::atomic<uint32_t> broken_ = 0;
  // One more than the number of the last round in which a rank brought a payload, of even and of
  // odd ones: nobody begins the next but one before all have left a round.
  std::array<std::atomic<uint32_t>, 2> payload_ = {};
  alignas(64) std::atomic<uint32_t> asleep_ = 0;
};

}  // namespace tessera::port
