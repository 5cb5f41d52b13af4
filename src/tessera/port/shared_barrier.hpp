// SharedBarrier: where the processes of a team meet; lives in memory that they share.
//
// A rank counts itself in; the last one starts the next generation and wakes the others, all with
// one system call. The others look at the generation for a while, which is less than going to sleep
// costs, and then sleep on it in the kernel. Where there are more ranks than cores they offer their
// core between two looks, so that those who are still to come can use it.
//   (B1) wait() answers kMet only after all ranks have called it, and their writes before it are
//        seen after it.
//   (B2) After break_up() no call waits: those that not all ranks have made answer kBroken.
// Zeroed memory is a barrier at which nobody has arrived. Thread safety: all functions from any
// process and thread; each rank waits once a generation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace tessera::port {

class SharedBarrier {
 public:
  enum class Outcome { kMet, kBroken };

  // How a rank waits.
  struct Patience {
    int64_t spin_ns = 0;         // looks at the memory for so long before it sleeps
    bool yields = false;         // offers its core between two looks
    std::function<void()> idle;  // called about every millisecond of sleep; may be empty
  };

  // Patience for so many ranks on this machine.
  [[nodiscard]] static Patience patience_for(int ranks, std::function<void()> idle);

  [[nodiscard]] Outcome wait(int ranks, const Patience& patience);

  // Wakes everybody for good. `reason` is any number but 0; the first one stays.
  void break_up(uint32_t reason);
  // 0 while it is whole.
  [[nodiscard]] uint32_t broken() const { return broken_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] bool passed(uint32_t generation) const {
    return generation_.load(std::memory_order_acquire) != generation;
  }
  void sleep(uint32_t generation);
  void wake_all();

  // On separate lines: arriving ranks do not disturb those that look at the generation.
  alignas(64) std::atomic<uint32_t> arrived_ = 0;
  alignas(64) std::atomic<uint32_t> generation_ = 0;
  std::atomic<uint32_t> broken_ = 0;
  alignas(64) std::atomic<uint32_t> asleep_ = 0;
};

}  // namespace tessera::port
