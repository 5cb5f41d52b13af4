// Benchmarks: what `tessera bench` runs.
//
// A bench is a named list of cases, each made only when its turn comes, because cases hold large
// buffers and child processes. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/harness.hpp"
#include "tessera/base/result.hpp"

namespace tessera::bench {

// A case to be made. `make` fails where what was built for the case is missing, and answers
// left_out() where the machine lacks something; it leaves name and group empty, they are these.
struct CaseMaker {
  std::string name;
  std::string group;
  std::function<base::Result<Case>()> make;
};

struct Bench {
  std::string name;
  std::string summary;  // one line for `tessera bench --list`
  std::function<std::vector<CaseMaker>()> cases;
  // What the geometric mean of the ratios of its timed cases must reach, where it must; cases that
  // are not in_mean are left out.
  std::optional<double> mean_bar = {};
  bool compares_builds = false;  // has cases for BenchOptions::against
};

// Every bench there is, in the order in which "all" runs them.
[[nodiscard]] const std::vector<Bench>& all_benches();

struct BenchOptions {
  std::vector<std::string> names;  // of benches; "all" is every one of them
  std::string only;                // run the cases whose name or group contains this
  bool json = false;               // JSON on standard output instead of the table
  std::string html_path;           // also write the page with plots here, where not empty
  bool quick = false;              // quick_effort(): to try, not to believe
  int64_t rounds = 0;              // 0: as Effort
  double seconds = 0;              // per case; 0: as Effort
  uint64_t seed = 0;               // 0: as Effort
  std::string against;             // the folder of another build of ours to compare with
};

// Runs the named benches and prints them on standard output; messages go to standard error.
// Returns the exit code of the command line: 0 if every case ran, whether or not its bars were met
// (the output says so), 1 if a case failed or a file could not be written, 2 if a bench is named
// that compares no builds and `against` is set, 3 for an unknown name or no build.
int run_bench(const BenchOptions& options);

// One line per bench, for a person.
[[nodiscard]] std::string bench_list();

}  // namespace tessera::bench
