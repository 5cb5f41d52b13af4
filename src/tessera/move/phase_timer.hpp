// PhaseTimer: adds the time until it goes to one phase of an operation.
//
// Two clock readings, about 50 ns: for whole pieces, never for single runs.
// Thread safety: none.
#pragma once

#include <cstdint>

#include "tessera/port/posix_clock.hpp"

namespace tessera::move {

class [[nodiscard]] PhaseTimer {
 public:
  explicit PhaseTimer(int64_t& phase_ns)
      : phase_ns_(phase_ns), begin_ns_(port::PosixClock().now_ns()) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() { phase_ns_ += port::PosixClock().now_ns() - begin_ns_; }

 private:
  int64_t& phase_ns_;
  int64_t begin_ns_;
};

}  // namespace tessera::move
