// What a benchmark run looks like to a person (a table) and to a program (JSON).
//
// JSON: {"bench":..,"machine":{..},"cases":[{"case":..,"unit":..,"ours":..,"peers":{name:value},
// "ratio":..,"noise":[low,high],"ceiling":..}]}, each case also with "group", "runs", "in_mean",
// "spread", "paper", "note", "bar", "met", "bars" and, in a sweep, "x"; "peer_spread" has the
// spread of every peer and "dropped" the one trial of each peer that was too slow to go on. "ratio"
// is against the best peer that is like ours, "ratio_of_all" against the best of all; "against" is
// this build against another one, with its own noise and its second median ("twin"), where there is
// one; "mark" says so where a ratio is between its floor and the noise. What does not apply is
// null; "peers" is then {}. After the cases comes "summary": the geometric mean of the ratios of
// the timed cases that are in_mean, how many bars were met, the names of the marked cases, and,
// where another build is compared with, the geometric mean of the ratios to it, that of this
// build's own pairs, and every other case by the reason. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/machine.hpp"

namespace tessera::bench {

// A case without an outcome.
struct NotRun {
  std::string name;
  std::string why;
};

struct BenchRun {
  std::string bench;  // the name asked for, for example "pattern" or "all"
  Machine machine;
  std::vector<Outcome> outcomes;
  std::optional<double> mean_bar = {};  // for the geometric mean
  int64_t failed = 0;                   // cases that could not be run
  int64_t left_out = 0;                 // cases that this machine has not got what it takes for
  std::vector<NotRun> not_run = {};     // both
  bool against = false;                 // another build was to be compared with
};

// How a whole run did. A case counts as held to bars, and as meeting them, once for each bar.
struct Summary {
  std::optional<double> geometric_mean;  // of the ratios of cases that count in it, no sizes
  // The same of the ratios to the other build, of this build to itself in the same cases (A/A), and
  // the names of all other cases, by the reason.
  std::optional<double> against_mean;
  std::optional<double> against_twin_mean;
  int64_t against_cases = 0;
  std::map<std::string, std::vector<std::string>> not_compared = {};
  std::vector<std::string> marked = {};  // cases between their floor and the noise band
  int64_t cases_held = 0;
  int64_t cases_met = 0;
  int64_t bars = 0;
  int64_t bars_met = 0;
  std::optional<bool> mean_met;
};
[[nodiscard]] Summary summary_of(const BenchRun& run);
[[nodiscard]] std::string summary_text(const BenchRun& run);

[[nodiscard]] std::string to_json(const BenchRun& run);

// The lines of one outcome, and the heading above the first one.
[[nodiscard]] std::string table_heading(const Machine& machine);
[[nodiscard]] std::string table_rows(const Outcome& outcome);

// Three significant digits, without an exponent from 0.001 to 10 million.
[[nodiscard]] std::string number_text(double value);

}  // namespace tessera::bench
