#include "tessera/cli/report_command.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "tessera/cli/files.hpp"
#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_page.hpp"
#include "tessera/cli/report_text.hpp"

namespace tessera::cli {

using base::Result;

namespace {

Result<ReportLog> load(const std::string& path) {
  TESSERA_TRY(const std::string text, read_whole(path, kReportLimits.size_bytes));
  auto log = parse_report(text);
  if (log) return log;
  const std::string name = path == "-" ? "standard input" : path;
  return base::fail(log.error().code, name + ": " + log.error().message());
}

std::string page_path(const ReportOptions& options) {
  if (!options.page_path.empty() || options.text || options.json) return options.page_path;
  if (options.log_path == "-") return "tessera-report.html";
  return std::filesystem::path(options.log_path).filename().replace_extension(".html").string();
}

}  // namespace

Result<std::string> report_output(const ReportOptions& options) {
  TESSERA_TRY(const ReportLog log, load(options.log_path));
  const std::string page = page_path(options);
  if (!page.empty()) TESSERA_TRY_VOID(write_whole(page, report_page(log)));
  if (options.json) return report_json(log);
  std::string text = report_text(log);
  if (!page.empty()) text += fmt::format("\npage: {}\n", page);
  return text;
}

ExitCode run_report(const ReportOptions& options) {
  const auto output = report_output(options);
  if (!output) return report(output.error(), options.json);
  fmt::print("{}", *output);
  return ExitCode::kOk;
}

}  // namespace tessera::cli
