// What a job's log comes to: sums over ranks and files, and who was slowest.
//
// Text, JSON and the page show the same figures; they are computed here, once. Sums that pass 64
// bits stop there. Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/cli/report_log.hpp"

namespace tessera::cli {

struct FileTotals {
  Transfers read;  // of all ranks; seconds are summed too
  Transfers write;
  PhaseSeconds seconds{};          // of all ranks
  std::vector<EngineUse> engines;  // of all ranks, equal kinds together, the longest first
  int64_t opens = 0;
  int64_t slowest_rank = 0;    // the rank with most time in this file
  double slowest_seconds = 0;  // its time
  double mean_seconds = 0;     // of the ranks that have a record

  // How much longer the slowest rank took than the average one; 1 where all took the same.
  [[nodiscard]] double imbalance() const;
  [[nodiscard]] double total_seconds() const;
};

[[nodiscard]] FileTotals totals_of(const FileRecord& file);

struct JobTotals {
  int64_t read_bytes = 0;
  int64_t write_bytes = 0;
  double slowest_seconds = 0;  // time in all files of the rank with most of it
  int64_t slowest_rank = 0;
};

[[nodiscard]] JobTotals totals_of(const ReportLog& log);

// All of a rank's time in a file.
[[nodiscard]] double seconds_of(const RankRecord& rank);

[[nodiscard]] int64_t runs_of(const Transfers& transfers);
// The class of run sizes that holds the middle run: its smallest size. 0 if there are no runs.
[[nodiscard]] int64_t median_run_bytes(const Transfers& transfers);
// The class in which the middle byte lies, its smallest size: half of the bytes are in runs of
// about this size or more. A few large runs among many small ones have it far above the median run.
[[nodiscard]] int64_t middle_byte_run_bytes(const Transfers& transfers);

// The sum, or the largest number if that is less.
[[nodiscard]] int64_t capped_sum(int64_t a, int64_t b);

[[nodiscard]] const char* direction_word(Direction direction);

}  // namespace tessera::cli
