#include "tessera/port/size_limit.hpp"

#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <limits>

namespace tessera::port {

namespace {

sigset_t size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

std::atomic<uint64_t> g_limit_changes = 0;

}  // namespace

WithoutSizeSignal::WithoutSizeSignal() {
  const sigset_t set = size_signal();
  ::pthread_sigmask(SIG_BLOCK, &set, &mask_);
  if (sigismember(&mask_, SIGXFSZ) == 1) {
    sigset_t pending;
    pending_ = ::sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }
}

WithoutSizeSignal::~WithoutSizeSignal() {
  const int errno_before = errno;
  const sigset_t set = size_signal();
  const timespec now = {0, 0};
  // The kernel sends it to the thread that made the call.
  if (!pending_) ::sigtimedwait(&set, nullptr, &now);
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  errno = errno_before;
}

int64_t size_limit() {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return kNone;
  return limit.rlim_cur < static_cast<rlim_t>(kNone) ? static_cast<int64_t>(limit.rlim_cur) : kNone;
}

uint64_t limit_changes() { return g_limit_changes.load(std::memory_order_relaxed); }

void count_limit_change() { g_limit_changes.fetch_add(1, std::memory_order_relaxed); }

bool has_size_limit() { return size_limit() != std::numeric_limits<int64_t>::max(); }

}  // namespace tessera::port
