#include "tessera/port/system_random.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tessera/base/bytes.hpp"

namespace tessera::port {

uint64_t SystemRandom::next() {
  std::array<std::byte, 8> word;
  fill(word);
  return base::load_le<uint64_t>(word);
}

void SystemRandom::fill(std::span<std::byte> memory) {
  while (!memory.empty()) {
    const ssize_t count = getrandom(memory.data(), memory.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      std::fprintf(stderr, "no random numbers from the kernel: %s\n", std::strerror(errno));
      std::abort();
    }
    memory = memory.subspan(static_cast<size_t>(count));
  }
}

}  // namespace tessera::port
