// The machine that a benchmark ran on, as far as a reader of its numbers needs to know it.
//
// Thread safety: pure but for reading /proc.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::bench {

struct Machine {
  std::string cpu;
  int64_t cores = 0;
  int64_t memory_bytes = 0;
  std::string kernel;
  std::string compiler;
  std::string load;  // the load average of the last minute when the run began, as /proc prints it
};

// What cannot be found out is an empty string or 0.
[[nodiscard]] Machine this_machine();

// One line for a person.
[[nodiscard]] std::string machine_text(const Machine& machine);

}  // namespace tessera::bench
