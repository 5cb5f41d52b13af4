#include "bench/peak_memory.hpp"

#include <fstream>
#include <string>

namespace tessera::bench {

void forget_peak_memory() {
  std::ofstream references("/proc/self/clear_refs");
  references << "5";
}

base::Result<int64_t> peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return base::fail(base::Code::kFailed, "/proc/self/status does not tell the peak of memory");
}

}  // namespace tessera::bench
