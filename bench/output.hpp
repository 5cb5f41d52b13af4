// What a benchmark run looks like to a person (a table) and to a program (JSON).
//
// JSON: {"bench":..,"machine":{..},"cases":[{"case":..,"unit":..,"ours":..,"peers":{name:value},
// "ratio":..,"noise":[low,high],"ceiling":..}]}, each case also with "group", "runs", "spread",
// "paper", "note", "bar", "met" and, in a sweep, "x". What does not apply is null; "peers" is then
// {}. Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/machine.hpp"

namespace tessera::bench {

struct BenchRun {
  std::string bench;  // the name asked for, for example "pattern" or "all"
  Machine machine;
  std::vector<Outcome> outcomes;
};

[[nodiscard]] std::string to_json(const BenchRun& run);

// The lines of one outcome, and the heading above the first one.
[[nodiscard]] std::string table_heading(const Machine& machine);
[[nodiscard]] std::string table_rows(const Outcome& outcome);

// Three significant digits, without an exponent from 0.001 to 10 million.
[[nodiscard]] std::string number_text(double value);

}  // namespace tessera::bench
