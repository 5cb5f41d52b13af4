// Job logs as text and as JSON.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_totals.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

// The job, and for each file its totals, engines and advice; of several jobs first a table of them.
[[nodiscard]] std::string report_text(const std::vector<ReportLog>& logs);
// The same for programs, and which logs could not be read; docs/formats/report.md describes the
// members.
[[nodiscard]] std::string report_json(const std::vector<ReportLog>& logs,
                                      const std::vector<base::Error>& errors = {});

// The parts, also for pages.
[[nodiscard]] std::string job_line(const JobRecord& job);
// Which says that a job has not come to its end, and what is missing; empty for others.
[[nodiscard]] std::string unfinished_text(const JobRecord& job);
[[nodiscard]] Table job_table(const std::vector<ReportLog>& logs);
// "8 B", or where half of the bytes are in far larger runs "64 B (half of the bytes in runs of
// about 16.0 MiB)". Empty without runs.
[[nodiscard]] std::string runs_text(const Transfers& transfers);
[[nodiscard]] Table engine_table(const FileTotals& totals);
[[nodiscard]] std::string seconds_text(double seconds);
// "all 4 ranks took the same time", or which took longest and by how much.
[[nodiscard]] std::string balance_text(const FileRecord& file, const FileTotals& totals);
// "4.0 KiB to 8.0 KiB": the runs of one class.
[[nodiscard]] std::string run_class_text(size_t index);

}  // namespace tessera::cli
