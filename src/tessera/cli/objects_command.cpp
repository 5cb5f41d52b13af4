#include "tessera/cli/objects_command.hpp"

#include <fmt/core.h>

#include <charconv>

#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"
#include "tessera/cli/files.hpp"
#include "tessera/cli/objects_json.hpp"
#include "tessera/cli/objects_page.hpp"
#include "tessera/cli/objects_text.hpp"
#include "tessera/cli/separate_files.hpp"
#include "tessera/cli/summary.hpp"

namespace tessera::cli {

using base::Result;

namespace {

Result<Shown> load(const std::string& path) {
  TESSERA_TRY(const std::string text, read_whole(path, base::JsonLimits{}.size_bytes));
  const std::string title = path == "-" ? "standard input" : path;
  const auto named = [&](const base::Error& error) {
    return base::fail(error.code, title + ": " + error.message());
  };
  const auto file = object::parse_views(text);
  if (!file) return named(file.error());
  auto objects = object::object_set_of(*file);
  if (!objects) return named(objects.error());
  return Shown{title, *std::move(objects), names_of(*file)};
}

std::string as_json(const Shown& shown, const ObjectsOptions& options) {
  base::JsonWriter writer;
  if (options.at) {
    write_meeting(writer, shown, *options.at);
  } else {
    write_objects(writer, shown);
  }
  return writer.finish();
}

}  // namespace

Result<pattern::Interval> parse_interval(const std::string& text) {
  pattern::Interval interval;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, interval.begin);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':') {
    const auto second = std::from_chars(first.ptr + 1, end, interval.end);
    if (second.ec == std::errc() && second.ptr == end && interval.begin < interval.end) {
      return interval;
    }
  }
  return base::fail(base::Code::kInvalid,
                    fmt::format("'{}' is no interval; write BEGIN:END with BEGIN < END, for "
                                "example 15:30 for the bytes 15 to 29",
                                text));
}

Result<std::string> objects_output(const ObjectsOptions& options) {
  TESSERA_TRY(const Shown shown, load(options.views_path));
  if (!options.html_path.empty()) {
    const NamedFile read[] = {{"VIEWS", options.views_path}};
    const NamedFile written[] = {{"--html", options.html_path}};
    TESSERA_TRY_VOID(check_separate(read, written));
    TESSERA_TRY_VOID(write_whole(options.html_path, objects_page(shown), OutputKind::kPage));
  }
  if (options.json) return as_json(shown, options);
  if (options.at) return meeting_text(shown, *options.at);
  std::string text = objects_text(shown, options.families_max);
  if (!options.html_path.empty()) text += fmt::format("\npage: {}\n", options.html_path);
  return text;
}

ExitCode run_objects(const ObjectsOptions& options) {
  const auto output = objects_output(options);
  if (!output) return report(output.error(), options.json);
  fmt::print("{}", *output);
  return ExitCode::kOk;
}

}  // namespace tessera::cli
