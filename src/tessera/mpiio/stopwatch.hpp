// Stopwatch: how long something took, for the journal.
#pragma once

#include <chrono>
#include <cstdint>

namespace tessera::mpiio {

class Stopwatch {
 public:
  [[nodiscard]] int64_t ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::mpiio
