#include "tessera/cli/bench_command.hpp"

#include <fmt/core.h>

#ifdef TESSERA_WITH_BENCH
#include "bench/bench.hpp"
#endif

namespace tessera::cli {

#ifdef TESSERA_WITH_BENCH

ExitCode run_bench_command(const BenchCommandOptions& options) {
  if (options.list) {
    fmt::print("{}", bench::bench_list());
    return ExitCode::kOk;
  }
  if (options.names.empty()) {
    fmt::print(stderr, "tessera: name a bench, or all (see tessera bench --list)\n");
    return ExitCode::kUsage;
  }
  bench::BenchOptions harness;
  harness.names = options.names;
  harness.only = options.only;
  harness.json = options.json;
  harness.html_path = options.html_path;
  harness.quick = options.quick;
  harness.rounds = options.rounds;
  harness.seconds = options.seconds;
  harness.seed = options.seed;
  return static_cast<ExitCode>(bench::run_bench(harness));
}

#else

ExitCode run_bench_command(const BenchCommandOptions& options) {
  return report({base::Code::kFailed, 0,
                 "this tessera was built without benchmarks; build it from the whole source tree"},
                options.json);
}

#endif

}  // namespace tessera::cli
