// The program `tessera-bench`, which `tessera bench` executes. It reads the same command line.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.hpp"
#include "tessera/base/nearest.hpp"
#include "tessera/cli/bench_command.hpp"
#include "tessera/cli/command_line.hpp"

namespace {

using tessera::cli::BenchCommandOptions;
using tessera::cli::ExitCode;
namespace bench = tessera::bench;

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names = {"all"};
  for (const bench::Bench& bench : bench::all_benches()) names.push_back(bench.name);
  return names;
}

ExitCode run_benches(const BenchCommandOptions& options) {
  if (options.list) {
    fmt::print("{}", bench::bench_list());
    return ExitCode::kOk;
  }
  const auto known = known_names();
  for (const std::string& name : options.names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return tessera::cli::report({tessera::base::Code::kNotFound, 0,
                                 fmt::format("no bench is called '{}'{} (see tessera bench --list)",
                                             name, tessera::base::did_you_mean(name, known))},
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
  harness.against = options.against;
  return static_cast<ExitCode>(bench::run_bench(harness));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const char*> arguments = {"tessera", "bench"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  arguments.push_back(nullptr);
  return tessera::cli::run_command_line(argc + 1, arguments.data(), run_benches);
}
