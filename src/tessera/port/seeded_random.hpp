// SeededRandom: chance that repeats; the same seed gives the same numbers on every machine.
//
// xoshiro256** with its state filled by splitmix64, as its authors recommend, so that near seeds
// give unrelated streams. Not for keys: its state follows from its output.
// Thread safety: none; give each thread or node a fork.
#pragma once

#include <array>

#include "tessera/port/random.hpp"

namespace tessera::port {

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed);

  uint64_t next() override;
  // A new stream that draws independently of this one. Takes one number from this one.
  [[nodiscard]] SeededRandom fork() { return SeededRandom(next()); }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace tessera::port
