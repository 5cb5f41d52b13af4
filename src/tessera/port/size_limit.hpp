// The limit of file sizes (RLIMIT_FSIZE, ulimit -f): what exceeds it is an error, not a signal.
//
// The kernel answers EFBIG to whoever makes a file longer than that, and sends SIGXFSZ besides,
// which ends a program that does not expect it. Whoever links a library does not: memory files
// count as files, too. While an object of this class lives, the signal of its thread is withheld,
// and the program's own handling stays as it is.
// Thread safety: each belongs to its thread; the functions, any thread. Cost: two or three system
// calls.
#pragma once

#include <signal.h>

#include <cstdint>

namespace tessera::port {

class WithoutSizeSignal {
 public:
  WithoutSizeSignal();
  ~WithoutSizeSignal();  // errno stays
  WithoutSizeSignal(const WithoutSizeSignal&) = delete;
  WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

 private:
  sigset_t mask_;
  bool pending_ = false;  // before: it is the program's
};

// The limit now; the largest number if there is none. One system call.
[[nodiscard]] int64_t size_limit();
[[nodiscard]] bool has_size_limit();

// How often the program may have changed its limits, where its calls are counted; then who has
// found no limit need not ask before the number has changed.
[[nodiscard]] uint64_t limit_changes();
void count_limit_change();

}  // namespace tessera::port
