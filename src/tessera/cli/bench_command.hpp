// `tessera bench`: the door to the benchmark harness in bench/.
//
// A build without the harness (an installed one may leave it out) says so. Thread safety: one
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct BenchCommandOptions {
  std::vector<std::string> names;  // "all" is every one of them
  bool list = false;
  bool json = false;
  std::string html_path;
  std::string only;
  bool quick = false;
  int64_t rounds = 0;  // 0 here and below: the harness decides
  double seconds = 0;
  uint64_t seed = 0;
};

ExitCode run_bench_command(const BenchCommandOptions& options);

}  // namespace tessera::cli
