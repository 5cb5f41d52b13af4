// `tessera bench`: executes tessera-bench, the benchmark program.
//
// That program is not installed. It passes its benches to run_command_line(), so that both programs
// have one command line; errors in it are reported by the first. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
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
  std::string against;  // the folder of another build
};

using BenchRunner = std::function<ExitCode(const BenchCommandOptions&)>;

// Runs the benches by `runner` or, where it is empty, executes the tessera-bench beside this
// program, with what follows "tessera bench" in `argv`. Fails where that program is missing, or
// older than this one or than a library of ../lib that is preloaded.
ExitCode run_bench_command(const BenchCommandOptions& options, const BenchRunner& runner,
                           const char* const* argv);

}  // namespace tessera::cli
