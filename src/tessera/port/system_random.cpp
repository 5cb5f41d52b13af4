#include "tessera/port/system_random.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tessera/base/bytes.hpp"
#include "tessera/port/descriptor.hpp"
#include "tessera/port/system_call.hpp"

namespace tessera::port {

uint64_t SystemRandom::next() {
  std::array<std::byte, 8> word;
  fill(word);
  return base::load_le<uint64_t>(word);
}

void SystemRandom::fill(std::span<std::byte> memory) {
  Descriptor device;
  while (!memory.empty()) {
    const ssize_t count = uninterrupted([&] {
      return device.valid() ? ::read(device.number(), memory.data(), memory.size())
                            : ::getrandom(memory.data(), memory.size(), 0);
    });
    if (count > 0) {
      memory = memory.subspan(static_cast<size_t>(count));
      continue;
    }
    // Filters of containers that are older than the call refuse it; the device has the same bytes.
    const bool elsewhere = count < 0 && is_missing_call(errno) && !device.valid();
    if (elsewhere) device = Descriptor(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
    if (device.valid() && elsewhere) continue;
    std::fprintf(stderr, "no random numbers from the kernel: %s\n", std::strerror(errno));
    std::abort();
  }
}

}  // namespace tessera::port
