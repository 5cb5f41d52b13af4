// `tessera report`: a job's log as a page, as text or as JSON.
//
// Thread safety: one thread.
#pragma once

#include <string>

#include "tessera/base/result.hpp"
#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct ReportOptions {
  std::string log_path;   // or "-"
  std::string page_path;  // where empty: the log's name with .html here, unless text or json
  bool text = false;      // no page, unless one is named
  bool json = false;      // the same, and JSON instead of text
};

// Prints on standard output; errors are reported as exit_code.hpp says.
ExitCode run_report(const ReportOptions& options);

// What it prints. Writes the page.
[[nodiscard]] base::Result<std::string> report_output(const ReportOptions& options);

}  // namespace tessera::cli
