// SystemRandom: the kernel's cryptographic generator, for keys and capabilities.
//
// It waits until the kernel's pool is ready and never answers with weaker numbers: where the kernel
// refuses, and there is no /dev/urandom either, the process stops with a message, because a
// guessable key is worse than none.
// Thread safety: all functions, from any thread.
#pragma once

#include "tessera/port/random.hpp"

namespace tessera::port {

class SystemRandom final : public Random {
 public:
  uint64_t next() override;
  void fill(std::span<std::byte> memory) override;
};

}  // namespace tessera::port
