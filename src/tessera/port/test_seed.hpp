// The seed of a random test: printed, so that a failure found is a failure replayed.
//
// Thread safety: any thread, as long as nobody changes the environment.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tessera/port/system_random.hpp"

namespace tessera::port {

// The number in the environment variable TESSERA_SEED, or a fresh one; printed in either case.
[[nodiscard]] inline uint64_t test_seed() {
  const char* text = std::getenv("TESSERA_SEED");
  const uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : SystemRandom().next();
  std::printf("TESSERA_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

}  // namespace tessera::port
