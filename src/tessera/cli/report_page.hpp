// The page of `tessera report`. Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/report_log.hpp"

namespace tessera::cli {

// Of many files, the 40 that took most time have pictures; all are in the table.
[[nodiscard]] std::string report_page(const ReportLog& log);

}  // namespace tessera::cli
