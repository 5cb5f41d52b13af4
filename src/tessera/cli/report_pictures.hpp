// The pictures of a report page, as SVG text.
//
// Up to 64 ranks have a bar each; of more, neighbours share one, which shows their average.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_totals.hpp"

namespace tessera::cli {

// A bar for each rank: what it read and what it wrote.
[[nodiscard]] std::string bytes_picture(const FileRecord& file);
// A stacked bar for each rank: where its time went.
[[nodiscard]] std::string time_picture(const FileRecord& file);
// How many runs had which size. Requires that there are runs.
[[nodiscard]] std::string runs_picture(const FileTotals& totals);

}  // namespace tessera::cli
