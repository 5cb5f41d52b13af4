// Random: the only source of chance.
//
// Keys and capabilities draw from SystemRandom; everything that a test may want to replay draws
// from a SeededRandom. Code that takes a Random& says by it that its behaviour depends on chance.
// Thread safety: stated by each implementation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::port {

class Random {
 public:
  virtual ~Random() = default;

  // 64 evenly distributed bits.
  virtual uint64_t next() = 0;

  // Evenly distributed in [0, bound). Requires bound > 0.
  uint64_t uniform(uint64_t bound);
  // True with probability numerator / denominator. Requires denominator > 0.
  bool chance(uint64_t numerator, uint64_t denominator);
  // Fills the memory with random bytes.
  virtual void fill(std::span<std::byte> memory);
};

}  // namespace tessera::port
