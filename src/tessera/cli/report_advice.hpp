// What a person could change, in plain words, from the figures of a log.
//
// Each rule states what was seen, with its number, and what to do about it. Rules are quiet about
// files that took no time worth saving. Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_totals.hpp"

namespace tessera::cli {

// Sentences about one file; empty where nothing stands out.
[[nodiscard]] std::vector<std::string> advice_for(const FileRecord& file, const FileTotals& totals,
                                                  const JobRecord& job);

}  // namespace tessera::cli
