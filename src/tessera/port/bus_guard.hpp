// BusGuard: copies from and to a mapped file, safe from what others do to the file.
//
// A page of a mapping that cannot be provided (the disk is full or failed, another program cut the
// file) is the signal SIGBUS. While a guard lives, such a fault of its thread inside its mapping
// puts zeros in the place of the whole mapping, and the copy goes on: nothing is left by a jump, so
// the code under a guard may own what it likes. What it stored so far is in the file, what it
// stores from then on is nowhere, and the mapping is lost for good, for other threads too.
//
// The library is a guest in the process, and signals are the program's:
//   (BUS-1) SIGBUS is handled by us while at least one guard lives, and only then: in between, the
//         program's handler, or none, stands as the program has set it.
//   (BUS-2) It is unblocked in the thread of a guard only, and as before once the guard has gone.
//   (BUS-3) A fault of anything else goes to the program's handler, once and from the kernel, with
//         all that was asked for with it (SA_SIGINFO, SA_RESETHAND, masks, stacks; SIG_DFL and
//         SIG_IGN end the program): ours puts it back and returns, so that the fault occurs again.
//         From then on until the next guard begins, those that live are without protection.
//   (BUS-4) A SIGBUS that somebody sends to the thread of a guard waits until the guard has gone.
//   (BUS-5) A handler that another thread installs while a guard lives may go on to ours, which it
//         replaced; then ours goes on to the one below it, and never back.
//   (BUS-6) Ours may be installed by a thread that saved it while a guard lived and restores it
//         after that. Then it stands for what it had replaced, and the next guard puts that back.
// Thread safety: guards of different threads are independent; a guard belongs to its thread.
// Cost: four system calls.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <span>

namespace tessera::port {

class BusGuard {
 public:
  // `lost` is set once the mapping has been replaced; it outlives the guard. Requires that the
  // thread has no other guard, and that `mapping` is whole pages mapped with this protection.
  struct Guarded {
    std::span<std::byte> mapping;
    int protection = 0;
    std::atomic<bool>& lost;
  };

  explicit BusGuard(const Guarded& guarded);
  ~BusGuard();
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

 private:
  struct Handler;

  bool replace(const void* fault);

  const Guarded guarded_;
  sigset_t mask_;        // of the thread before
  siginfo_t sent_ = {};  // (BUS-4); none while its number is 0
};

}  // namespace tessera::port
