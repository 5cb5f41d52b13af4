#include "tessera/cli/bench_command.hpp"

#include <fmt/core.h>

#include <algorithm>

#ifdef TESSERA_WITH_BENCH
#include "bench/bench.hpp"
#endif

namespace tessera::cli {

#ifdef TESSERA_WITH_BENCH

namespace {

bool is_known(const std::string& name) {
  const auto& benches = bench::all_benches();
  return name == "all" || std::any_of(benches.begin(), benches.end(),
                                      [&](const auto& known) { return known.name == name; });
}

}  // namespace

ExitCode run_bench_command(const BenchCommandOptions& options) {
  if (options.list) {
    fmt::print("{}", bench::bench_list());
    return ExitCode::kOk;
  }
  if (options.names.empty()) {
    return report_usage("name a bench, or all (see tessera bench --list)", options.json);
  }
  for (const std::string& name : options.names) {
    if (is_known(name)) continue;
    return report({base::Code::kNotFound, 0,
                   fmt::format("no bench is called '{}' (see tessera bench --list)", name)},
                  options.json);
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
