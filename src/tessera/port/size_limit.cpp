#include "tessera/port/size_limit.hpp"

#include <sys/resource.h>

#include <cerrno>

namespace tessera::port {

namespace {

sigset_t size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

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

bool has_size_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace tessera::port
