#include "bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>

#include "bench/other_build.hpp"
#include "bench/output.hpp"
#include "bench/report.hpp"

namespace tessera::bench {

namespace {

enum ExitCode { kOk = 0, kError = 1, kUsage = 2, kNotFound = 3 };

Effort effort_of(const BenchOptions& options) {
  Effort effort = options.quick ? quick_effort() : Effort{};
  if (options.rounds > 0) effort.rounds = options.rounds;
  if (options.seconds > 0) effort.seconds = options.seconds;
  if (options.seed != 0) effort.seed = options.seed;
  return effort;
}

base::Result<std::vector<const Bench*>> chosen_benches(const std::vector<std::string>& names) {
  std::vector<const Bench*> chosen;
  for (const std::string& name : names) {
    const size_t before = chosen.size();
    for (const Bench& bench : all_benches()) {
      if (name == "all" || name == bench.name) chosen.push_back(&bench);
    }
    if (chosen.size() == before) {
      return base::fail(base::Code::kNotFound,
                        fmt::format("no bench is called '{}'; there are:\n{}", name, bench_list()));
    }
  }
  return chosen;
}

std::vector<std::string> comparing() {
  std::vector<std::string> names;
  for (const Bench& bench : all_benches()) {
    if (bench.compares_builds) names.push_back(bench.name);
  }
  return names;
}

// The first bench that was asked for by its name although it compares no builds.
std::optional<std::string> no_comparison(const std::vector<std::string>& names) {
  for (const Bench& bench : all_benches()) {
    if (bench.compares_builds) continue;
    if (std::find(names.begin(), names.end(), bench.name) != names.end()) return bench.name;
  }
  return std::nullopt;
}

bool wanted(const CaseMaker& maker, const std::string& only) {
  return maker.name.find(only) != std::string::npos || maker.group.find(only) != std::string::npos;
}

// What was measured, or why nothing could be.
struct Ran {
  std::optional<Outcome> outcome = {};
  std::string left_out = {};
};

base::Result<Ran> make_and_run(const CaseMaker& maker, const Effort& effort) {
  TESSERA_TRY(Case measured, maker.make());
  if (!measured.left_out.empty()) return Ran{{}, measured.left_out};
  measured.name = maker.name;
  measured.group = maker.group;
  if (other_build().empty()) measured.not_compared.clear();
  TESSERA_TRY(Outcome outcome, run_case(measured, effort));
  return Ran{std::move(outcome)};
}

// Runs every case it can.
void run_cases(const Bench& bench, const BenchOptions& options, BenchRun& run) {
  for (const CaseMaker& maker : bench.cases()) {
    if (!wanted(maker, options.only)) continue;
    const base::Result<Ran> ran = make_and_run(maker, effort_of(options));
    if (!ran) {
      fmt::print(stderr, "tessera bench {}: {}: {}\n", bench.name, maker.name,
                 ran.error().message());
      ++run.failed;
      run.not_run.push_back({maker.name, "it could not be run"});
      continue;
    }
    if (!ran->outcome) {
      fmt::print(stderr, "tessera bench {}: {}: left out: {}\n", bench.name, maker.name,
                 ran->left_out);
      ++run.left_out;
      run.not_run.push_back({maker.name, "this machine cannot run it: " + ran->left_out});
      continue;
    }
    if (!options.json) {
      fmt::print("{}", table_rows(*ran->outcome));
      std::fflush(stdout);
    }
    run.outcomes.push_back(*ran->outcome);
  }
}

bool write_page(const BenchRun& run, const std::string& path) {
  std::ofstream page(path, std::ios::binary);
  page << to_html(run);
  page.close();
  if (page) return true;
  fmt::print(stderr, "tessera bench: cannot write {}\n", path);
  return false;
}

}  // namespace

std::string bench_list() {
  std::string text;
  for (const Bench& bench : all_benches()) {
    text += fmt::format("  {:<12}{}\n", bench.name, bench.summary);
  }
  return text;
}

int run_bench(const BenchOptions& options) {
  const auto benches = chosen_benches(options.names);
  if (!benches) {
    fmt::print(stderr, "tessera bench: {}", benches.error().message());
    return kNotFound;
  }
  if (const auto name = no_comparison(options.names); name && !options.against.empty()) {
    fmt::print(stderr, "tessera bench: {} compares no builds; --against is for {}\n", *name,
               fmt::join(comparing(), ", "));
    return kUsage;
  }
  if (const auto set = set_other_build(options.against); !set) {
    fmt::print(stderr, "tessera bench: {}\n", set.error().message());
    return kNotFound;
  }
  BenchRun run;
  run.bench = options.names.size() == 1 ? options.names[0] : "several";
  run.machine = this_machine();
  run.against = !options.against.empty();
  if (!options.json) fmt::print("{}", table_heading(run.machine));
  if (benches->size() == 1) run.mean_bar = benches->front()->mean_bar;
  for (const Bench* bench : *benches) run_cases(*bench, options, run);
  if (options.json) {
    fmt::print("{}", to_json(run));
  } else {
    fmt::print("{}", summary_text(run));
  }
  bool good = run.failed == 0;
  if (!options.html_path.empty()) good = write_page(run, options.html_path) && good;
  return good ? kOk : kError;
}

}  // namespace tessera::bench
