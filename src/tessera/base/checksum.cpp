#include "tessera/base/checksum.hpp"

#include <atomic>

#include "tessera/base/assert.hpp"
#include "tessera/base/checksum_kernels.hpp"

namespace tessera::base {
namespace {

using Kernel = uint64_t (*)(ByteView);

// Null where this processor cannot run it.
Kernel kernel_of(ChecksumLevel level) {
#if defined(__x86_64__)
  __builtin_cpu_init();  // we may be called before the constructor that does it
#endif
  switch (level) {
    case ChecksumLevel::kPortable:
      return xxh3_portable;
#if defined(__x86_64__)
    case ChecksumLevel::kAvx2:
      return __builtin_cpu_supports("avx2") ? xxh3_avx2 : nullptr;
#endif
    default:
      return nullptr;
  }
}

Kernel best_kernel() {
  Kernel best = nullptr;
  for (const ChecksumLevel level : kChecksumLevels) {
    if (const Kernel kernel = kernel_of(level)) best = kernel;
  }
  return best;
}

// Threads that meet here at the first call store the same answer.
std::atomic<Kernel> active_kernel = nullptr;

}  // namespace

uint64_t checksum(ByteView bytes) {
  Kernel kernel = active_kernel.load(std::memory_order_relaxed);
  if (kernel == nullptr) [[unlikely]] {
    kernel = best_kernel();
    active_kernel.store(kernel, std::memory_order_relaxed);
  }
  return kernel(bytes);
}

bool checksum_runs(ChecksumLevel level) { return kernel_of(level) != nullptr; }

uint64_t checksum_at(ChecksumLevel level, ByteView bytes) {
  const Kernel kernel = kernel_of(level);
  TESSERA_ASSERT(kernel != nullptr);
  return kernel(bytes);
}

}  // namespace tessera::base
