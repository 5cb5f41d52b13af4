// PhaseTimer: adds the time until it goes to one phase of an operation, where that is measured.
//
// Two clock readings, about 50 ns: for whole pieces, never for single runs.
// Thread safety: none.
#pragma once

#include <cstdint>

#include "tessera/move/engine.hpp"
#include "tessera/port/posix_clock.hpp"

namespace tessera::move {

class [[nodiscard]] PhaseTimer {
 public:
  PhaseTimer(Phases& phases, int64_t Phases::*phase_ns)
      : phases_(phases),
        phase_ns_(phase_ns),
        begin_ns_(phases.measured ? port::PosixClock().now_ns() : 0) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() {
    if (phases_.measured) phases_.*phase_ns_ += port::PosixClock().now_ns() - begin_ns_;
  }

 private:
  Phases& phases_;
  int64_t Phases::*const phase_ns_;
  const int64_t begin_ns_;
};

}  // namespace tessera::move
