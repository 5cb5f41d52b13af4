#include "tessera/port/posix_clock.hpp"

#include <time.h>

#include <cerrno>

#include "tessera/base/assert.hpp"

namespace tessera::port {

namespace {
constexpr int64_t kSecondNs = 1'000'000'000;
}  // namespace

int64_t PosixClock::now_ns() const {
  timespec now{};
  const int status = clock_gettime(CLOCK_BOOTTIME, &now);
  TESSERA_ASSERT(status == 0);
  return int64_t{now.tv_sec} * kSecondNs + now.tv_nsec;
}

void PosixClock::sleep_until(int64_t deadline_ns) {
  if (deadline_ns <= now_ns()) return;
  timespec deadline{};
  deadline.tv_sec = deadline_ns / kSecondNs;
  deadline.tv_nsec = deadline_ns % kSecondNs;
  while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

}  // namespace tessera::port
