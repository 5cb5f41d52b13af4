// Stopwatch: how long something took, for the journal.
#pragma once

#include <cstdint>

#include "tessera/port/posix_clock.hpp"

namespace tessera::mpiio {

class Stopwatch {
 public:
  // One that is not wanted reads no clock, and ns() is 0.
  explicit Stopwatch(bool wanted = true) : start_ns_(wanted ? port::PosixClock().now_ns() : -1) {}

  [[nodiscard]] int64_t ns() const {
    return start_ns_ < 0 ? 0 : port::PosixClock().now_ns() - start_ns_;
  }

 private:
  const int64_t start_ns_;
};

}  // namespace tessera::mpiio
