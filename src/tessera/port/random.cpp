#include "tessera/port/random.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/bytes.hpp"

namespace tessera::port {

uint64_t Random::uniform(uint64_t bound) {
  TESSERA_ASSERT(bound > 0);
  // 2^64 mod bound: draws below it would make the small results likelier than the others.
  const uint64_t unfair = (~bound + 1) % bound;
  for (;;) {
    const uint64_t draw = next();
    if (draw >= unfair) return draw % bound;
  }
}

bool Random::chance(uint64_t numerator, uint64_t denominator) {
  return uniform(denominator) < numerator;
}

void Random::fill(std::span<std::byte> memory) {
  while (!memory.empty()) {
    // Stored little-endian, so that a seed gives the same bytes on every machine.
    std::array<std::byte, 8> word;
    base::store_le<uint64_t>(word, next());
    const size_t count = std::min(memory.size(), word.size());
    std::memcpy(memory.data(), word.data(), count);
    memory = memory.subspan(count);
  }
}

}  // namespace tessera::port
