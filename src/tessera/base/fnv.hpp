// FNV-1a of 64 bits: a hash that is the same on every machine and in every version, for digests of
// traces and for choices that many processes must make alike. Not against those who choose its
// input on purpose. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "tessera/base/bytes.hpp"

namespace tessera::base {

inline constexpr uint64_t kFnvStart = 0xcbf29ce484222325;

// The hash of what the state is the hash of, followed by the bytes. O(bytes).
[[nodiscard]] inline uint64_t fnv(uint64_t state, ByteView bytes) {
  constexpr uint64_t kPrime = 0x100000001b3;
  for (const std::byte byte : bytes) state = (state ^ std::to_integer<uint64_t>(byte)) * kPrime;
  return state;
}

}  // namespace tessera::base
