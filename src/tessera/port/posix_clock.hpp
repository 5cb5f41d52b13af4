// PosixClock: the machine's monotonic clock.
//
// It goes on while the machine is suspended: a client that was asleep must find its lease expired,
// as the server, which was not, has done. Thread safety: all functions, from any thread.
#pragma once

#include "tessera/port/clock.hpp"

namespace tessera::port {

class PosixClock final : public Clock {
 public:
  [[nodiscard]] int64_t now_ns() const override;
  void sleep_until(int64_t deadline_ns) override;
};

}  // namespace tessera::port
