#include "bench/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace tessera::bench {

namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string compiler_name() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string load_average() {
  std::ifstream average("/proc/loadavg");
  std::string minute;
  average >> minute;
  return minute;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  machine.cores = sysconf(_SC_NPROCESSORS_ONLN);
  machine.memory_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  utsname name = {};
  if (uname(&name) == 0) machine.kernel = fmt::format("{} {}", name.sysname, name.release);
  machine.compiler = compiler_name();
  machine.load = load_average();
  return machine;
}

std::string machine_text(const Machine& machine) {
  return fmt::format("{}, {} cores, {:.1f} GiB, {}, {}, load {}", machine.cpu, machine.cores,
                     static_cast<double>(machine.memory_bytes) / (1 << 30), machine.kernel,
                     machine.compiler, machine.load);
}

}  // namespace tessera::bench
