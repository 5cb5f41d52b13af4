#include "tessera/cli/show_command.hpp"

#include <fmt/core.h>

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/file_kind.hpp"
#include "tessera/cli/files.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/separate_files.hpp"
#include "tessera/cli/show_page.hpp"
#include "tessera/cli/show_text.hpp"
#include "tessera/object/views_text.hpp"
#include "tessera/remap/plan.hpp"

namespace tessera::cli {

using base::Result;

namespace {

Result<std::string> show_plain(port::PlainFile& file, const ShowOptions& options) {
  if (!options.html_path.empty()) {
    return base::fail(base::Code::kInvalid,
                      options.path + " is a plain file; pages are made of object files");
  }
  TESSERA_TRY(const int64_t size, file.size());
  if (!options.json) {
    return fmt::format("{}: plain file of {} bytes\n", options.path, with_commas(size));
  }
  base::JsonWriter writer;
  writer.begin_object().member("file", options.path).member("kind", "plain");
  writer.member("size_bytes", size).end_object();
  return writer.finish();
}

// The views that were recorded, as they continue to the size of the file.
Result<std::string> show_views(const ShowOptions& options) {
  TESSERA_TRY(const OpenedObject opened, open_object(options.path));
  auto text = [&]() -> Result<std::string> {
    const int64_t size = opened.contents.size;
    TESSERA_TRY(const auto consumers, remap::consumers_of(opened.contents, size));
    return object::text_of_views(remap::views_file_of(consumers, size));
  }();
  if (text) return text;
  return base::fail(text.error().code, fmt::format("{}: {}", options.path, text.error().message()));
}

}  // namespace

Result<std::string> show_output(const ShowOptions& options) {
  if (options.views) return show_views(options);
  {
    TESSERA_TRY(const auto file, open_regular(options.path, port::Access::kRead));
    TESSERA_TRY(const FileKind kind, kind_of(*file));
    if (kind == FileKind::kPlain) return show_plain(*file, options);
  }
  TESSERA_TRY(const OpenedObject opened, open_object(options.path));
  TESSERA_TRY(ObjectFileFacts facts,
              facts_of(options.path, opened.container.superblock(), opened.contents));
  TESSERA_TRY(facts.container_bytes, opened.file->size());
  facts.complaints = opened.container.complaints();
  if (!options.html_path.empty()) {
    const NamedFile read[] = {{"FILE", container::parse_file_name(options.path).path}};
    const NamedFile written[] = {{"--html", options.html_path}};
    TESSERA_TRY_VOID(check_separate(read, written));
    const std::string page = show_page(facts, opened.contents);
    TESSERA_TRY_VOID(write_whole(options.html_path, page, OutputKind::kPage));
  }
  if (options.json) return show_json(facts, opened.contents);
  std::string text = show_text(facts);
  if (!options.html_path.empty()) text += fmt::format("\npage: {}\n", options.html_path);
  return text;
}

ExitCode run_show(const ShowOptions& options) {
  const auto output = show_output(options);
  if (!output) return report(output.error(), options.json);
  fmt::print("{}", *output);
  return ExitCode::kOk;
}

}  // namespace tessera::cli
