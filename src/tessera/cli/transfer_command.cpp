#include "tessera/cli/transfer_command.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <optional>

#include "tessera/base/json.hpp"
#include "tessera/cli/files.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/object_transfer.hpp"
#include "tessera/cli/output_file.hpp"
#include "tessera/cli/progress.hpp"
#include "tessera/container/file_kind.hpp"

namespace tessera::cli {

using base::Result;

namespace {

ShowProgress progress_of(Progress& progress) {
  return [&progress](int64_t done, int64_t total) { progress.show(done, total); };
}

// What is read decides who may read what is made of it.
OutputOptions output_like(const port::PlainFile& from, bool replace) {
  constexpr mode_t kOwnerMayWrite = 0600;
  OutputOptions options{.replace = replace};
  struct stat status {};
  if (::fstat(from.descriptor(), &status) == 0) {
    options.permissions = (status.st_mode & 0666) | kOwnerMayWrite;
  }
  return options;
}

Result<std::optional<object::ViewsFile>> load_views(const std::string& path) {
  if (path.empty()) return std::optional<object::ViewsFile>();
  TESSERA_TRY(const std::string text, read_whole(path, base::JsonLimits{}.size_bytes));
  auto views = object::parse_views(text);
  if (!views) return base::fail(views.error().code, path + ": " + views.error().message());
  return std::optional(*std::move(views));
}

Result<std::string> import_file(const TransferOptions& options) {
  TESSERA_TRY(const auto views, load_views(options.views_path));
  TESSERA_TRY(const auto from, open_regular(options.from, port::Access::kRead));
  TESSERA_TRY(const FileKind kind, kind_of(*from));
  if (kind == FileKind::kObject) {
    return base::fail(base::Code::kInvalid,
                      options.from + " is an object file already; import takes a plain file");
  }
  const std::string path = container::parse_file_name(options.to).path;
  TESSERA_TRY(OutputFile to, OutputFile::create(path, output_like(*from, options.force)));
  Progress progress("imported");
  TESSERA_TRY(const TransferReport report,
              import_bytes(*from, to.file(), views ? &*views : nullptr, progress_of(progress)));
  TESSERA_TRY_VOID(to.finish());
  return fmt::format("{}: {} bytes, {} stored in {}\n", options.to, with_commas(report.size_bytes),
                     with_commas(report.stored_bytes), counted(report.allocations, "allocation"));
}

Result<std::string> export_file(const TransferOptions& options) {
  if (container::parse_file_name(options.to).object) {
    return base::fail(base::Code::kInvalid,
                      options.to + " names an object file; export makes a plain one");
  }
  TESSERA_TRY(OpenedObject from, open_object(options.from));
  TESSERA_TRY(OutputFile to,
              OutputFile::create(options.to, output_like(*from.file, options.force)));
  Progress progress("exported");
  TESSERA_TRY(const TransferReport report, export_bytes(from, to.file(), progress_of(progress)));
  TESSERA_TRY_VOID(to.finish());
  return fmt::format("{}: {} bytes, {} of them written\n", options.to,
                     with_commas(report.size_bytes), with_commas(report.stored_bytes));
}

ExitCode print(const Result<std::string>& text) {
  if (!text) return report(text.error(), false);
  fmt::print("{}", *text);
  return ExitCode::kOk;
}

}  // namespace

ExitCode run_import(const TransferOptions& options) { return print(import_file(options)); }

ExitCode run_export(const TransferOptions& options) { return print(export_file(options)); }

}  // namespace tessera::cli
