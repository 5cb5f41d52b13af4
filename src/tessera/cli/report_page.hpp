// The page of `tessera report`. Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tessera/cli/report_log.hpp"

namespace tessera::cli {

// Of many files, the 40 of a job that took most time have pictures; all are in the table. Several
// jobs have a table before them. Requires at least one.
[[nodiscard]] std::string report_page(const std::vector<ReportLog>& logs);

}  // namespace tessera::cli
