#include "tessera/cli/report_command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "tessera/cli/files.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_page.hpp"
#include "tessera/cli/report_text.hpp"
#include "tessera/cli/separate_files.hpp"
#include "tessera/telemetry/job_log.hpp"

namespace tessera::cli {

using base::Result;

namespace {

// What the paths lead to.
struct Loaded {
  std::vector<ReportLog> logs;
  std::vector<NamedFile> files;  // of the logs
  std::vector<base::Error> errors;
  std::vector<base::Error> pages;  // that are no logs
};

Result<ReportLog> load(const std::string& path) {
  std::error_code no_matter;
  const bool folder = std::filesystem::is_directory(path, no_matter);
  TESSERA_TRY(const std::string text, folder ? telemetry::unfinished_log(path, TESSERA_VERSION)
                                             : read_whole(path, kReportLimits.size_bytes));
  auto log = parse_report(text);
  if (log) return log;
  const std::string name = path == "-" ? "standard input" : path;
  return base::fail(log.error().code, name + ": " + log.error().message());
}

std::string page_path(const ReportOptions& options) {
  if (!options.page_path.empty() || options.text || options.json) return options.page_path;
  const std::string& first = options.log_paths.front();
  if (first == "-" || options.log_paths.size() > 1) return "tessera-report.html";
  std::filesystem::path path = std::filesystem::path(first).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // a folder, with a slash at its end
  return path.filename().replace_extension(".html").string();
}

bool is_page_of_ours(const std::string& path) {
  if (!path.ends_with(".html")) return false;
  const auto text = read_whole(path, kReportLimits.size_bytes);
  return text && is_page(*text, *text);
}

// Of a folder of counts whose job has its log among the paths: it was killed between writing the
// log and removing the folder.
bool is_counted_twice(const std::string& path, const std::vector<std::string>& paths) {
  const auto normal = [](const std::string& text) {
    const std::filesystem::path way = std::filesystem::path(text).lexically_normal();
    return way.has_filename() ? way : way.parent_path();  // a folder, with a slash at its end
  };
  std::filesystem::path log = normal(path);
  if (log.extension() != telemetry::kUnfinished) return false;
  log.replace_extension(".json");
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& other) { return normal(other) == log; });
}

Loaded load_all(const std::vector<std::string>& paths) {
  Loaded loaded;
  for (const std::string& path : paths) {
    if (is_counted_twice(path, paths)) continue;
    if (is_page_of_ours(path)) {
      loaded.pages.push_back({base::Code::kInvalid, 0, path + " is a page of reports, not a log"});
      continue;
    }
    auto log = load(path);
    if (log) {
      loaded.logs.push_back(*std::move(log));
      loaded.files.push_back({"LOG", path == "-" ? "" : path});
    } else {
      loaded.errors.push_back(log.error());
    }
  }
  return loaded;
}

Result<std::string> report_output(const Loaded& loaded, const ReportOptions& options) {
  const std::string page = page_path(options);
  if (!page.empty()) {
    const NamedFile written[] = {{"--html", page}};
    TESSERA_TRY_VOID(check_separate(loaded.files, written));
    TESSERA_TRY_VOID(write_whole(page, report_page(loaded.logs), OutputKind::kPage));
  }
  if (options.json) return report_json(loaded.logs, loaded.errors);
  std::string text = report_text(loaded.logs);
  if (!page.empty()) text += fmt::format("\npage: {}\n", page);
  return text;
}

// Without any log.
ExitCode report_none(const Loaded& loaded, bool json) {
  const auto& errors = loaded.errors.empty() ? loaded.pages : loaded.errors;
  if (errors.size() == 1) return report(errors.front(), json);
  if (json) fmt::print("{}", report_json({}, errors));
  for (const base::Error& error : errors) report(error, false);
  return ExitCode::kError;
}

}  // namespace

ExitCode run_report(const ReportOptions& options) {
  const Loaded loaded = load_all(options.log_paths);
  if (loaded.logs.empty()) return report_none(loaded, options.json);
  const auto output = report_output(loaded, options);
  if (!output) return report(output.error(), options.json);
  fmt::print("{}", *output);
  std::fflush(stdout);
  for (const base::Error& page : loaded.pages) {
    fmt::print(stderr, "{}", error_line({page.code, 0, page.context + "; it is skipped"}));
  }
  for (const base::Error& error : loaded.errors) report(error, false);
  return loaded.errors.empty() ? ExitCode::kOk : ExitCode::kError;
}

}  // namespace tessera::cli
