// What a benchmark run looks like to a person (a table) and to a program (JSON).
//
// JSON: {"bench":..,"machine":{..},"cases":[{"case":..,"unit":..,"ours":..,"peers":{name:value},
// "ratio":..,"noise":[low,high],"ceiling":..}]}, each case also with "group", "runs", "in_mean",
// "spread", "paper", "note", "bar", "met", "bars" and, in a sweep, "x"; "peer_spread" has the
// spread of every peer and "dropped" the one trial of each peer that was too slow to go on. "ratio"
// is against the best peer that is like ours, "ratio_of_all" against the best of all; "against" is
// this build against another one, with its own noise, where there is one. What does not apply is
// null; "peers" is then {}. After the cases comes "summary": the geometric mean of the ratios of
// the timed cases that are in_mean, how many bars were met, and the geometric mean of the ratios to
// the other build. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/machine.hpp"

namespace tessera::bench {

struct BenchRun {
  std::string bench;  // the name asked for, for example "pattern" or "all"
  Machine machine;
  std::vector<Outcome> outcomes;
  std::optional<double> mean_bar = {};  // for the geometric mean
  int64_t failed = 0;                   // cases that could not be run
  int64_t left_out = 0;                 // cases that this machine has not got what it takes for
};

// How a whole run did. A case counts as held to bars, and as meeting them, once for each bar.
struct Summary {
  std::optional<double> geometric_mean;  // of the ratios of cases that count in it, no sizes
  // The same of the ratios to the other build, and of what cases were not counted, by the reason.
  std::optional<double> against_mean;
  int64_t against_cases = 0;
  std::map<std::string, int64_t> not_compared = {};
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
