// Job logs as text and as JSON.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_totals.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

// The job, and for each file its totals, engines and advice.
[[nodiscard]] std::string report_text(const ReportLog& log);
// The same for programs; docs/formats/report.md describes the members.
[[nodiscard]] std::string report_json(const ReportLog& log);

// The parts, also for pages.
[[nodiscard]] std::string job_line(const JobRecord& job);
[[nodiscard]] Table engine_table(const FileTotals& totals);
[[nodiscard]] std::string seconds_text(double seconds);
// "all 4 ranks took the same time", or which took longest and by how much.
[[nodiscard]] std::string balance_text(const FileRecord& file, const FileTotals& totals);
// "4.0 KiB to 8.0 KiB": the runs of one class.
[[nodiscard]] std::string run_class_text(size_t index);

}  // namespace tessera::cli
