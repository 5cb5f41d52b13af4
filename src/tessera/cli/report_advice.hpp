// What a person could change, in plain words, from the figures of a log.
//
// Each rule states what was seen, with its number, and what to do about it. Where a job, or a file
// of one, took no time worth saving, the findings are kept apart from advice and the share of time
// is given: another job may do the same for longer. Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_totals.hpp"

namespace tessera::cli {

// Whether a job's I/O took time worth saving, and which of its files did.
struct JobWeight {
  // Where all files together took too little: how little, for example
  // "I/O took 0.91% of the job (threshold 1%)". Empty otherwise.
  std::string too_little;
  // The time of the slowest rank below which a file by itself took too little. 0 if the files below
  // it are so many that together they did not.
  double file_seconds_min = 0;
};

[[nodiscard]] JobWeight weight_of(const ReportLog& log);

struct Advice {
  std::vector<std::string> sentences;  // empty where nothing stands out
  bool matters = true;                 // false where the job or the file took too little time
  // How little where it is the file, for example "this file took 0.91% of the job (threshold 1%)".
  std::string too_little;
};

// Requires the weight of the job of which the file is.
[[nodiscard]] Advice advice_for(const FileRecord& file, const FileTotals& totals,
                                const JobRecord& job, const JobWeight& weight);

// What is shown of a job, once; empty where its I/O matters.
[[nodiscard]] std::string advice_line(const JobWeight& weight);
// What is shown of a file: no line where the job's says it all.
[[nodiscard]] std::vector<std::string> advice_lines(const Advice& advice);

}  // namespace tessera::cli
