// `tessera report`: logs of jobs as a page, as text or as JSON.
//
// Thread safety: one thread.
#pragma once

#include <string>
#include <vector>

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct ReportOptions {
  // Or "-"; folders of jobs that did not finish, too. Pages that this command made are skipped.
  std::vector<std::string> log_paths;
  // Where empty: the log's name with .html here, or tessera-report.html; none if text or json.
  std::string page_path;
  bool text = false;  // no page, unless one is named
  bool json = false;  // the same, and JSON instead of text
};

// Prints on standard output and writes the page; errors are reported as exit_code.hpp says. Of
// several logs, those that cannot be read have a line each on standard error, the others are shown,
// and the exit code is kError.
ExitCode run_report(const ReportOptions& options);

}  // namespace tessera::cli
