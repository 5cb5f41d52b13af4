// Clock: the only way to read or wait for time.
//
// Leases, timeouts and retries are safety decisions, so no code reads the system's clock by itself:
// under SimClock the same state machines run years in a second and the same way each time. There is
// no wall clock here on purpose; time is monotonic and its zero means nothing.
// Thread safety: stated by each implementation.
#pragma once

#include <cstdint>

namespace tessera::port {

class Clock {
 public:
  virtual ~Clock() = default;

  // Nanoseconds since an arbitrary start. Never decreases.
  [[nodiscard]] virtual int64_t now_ns() const = 0;
  // Returns once now_ns() >= deadline_ns; at once if that is so already.
  virtual void sleep_until(int64_t deadline_ns) = 0;
};

}  // namespace tessera::port
