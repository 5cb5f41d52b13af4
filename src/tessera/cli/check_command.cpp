#include "tessera/cli/check_command.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/file_kind.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/progress.hpp"
#include "tessera/cli/table.hpp"
#include "tessera/container/compaction.hpp"
#include "tessera/container/file_kind.hpp"
#include "tessera/container/remains.hpp"
#include "tessera/container/target.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/posix_disk.hpp"

namespace tessera::cli {

using base::Result;
using container::CheckReport;

namespace {

// What another process commits meanwhile may overwrite what is being looked at: no damage.
Result<void> require_unchanged(port::File& file, const CheckReport& found) {
  if (found.sound()) return {};
  const auto now = container::Container::open(file);
  if (!now || now->superblock().sequence == found.superblock.sequence) return {};
  return base::fail(base::Code::kRetry,
                    file.path() +
                        " was changed while it was checked; try again when its writer is "
                        "done");
}

ExitCode tell(const CheckReport& found, const CheckCommandOptions& options) {
  fmt::print("{}",
             options.json ? check_json(options.path, found) : check_text(options.path, found));
  return found.sound() ? ExitCode::kOk : ExitCode::kIntegrity;
}

// There is no superblock in it: a plain file, or an object file whose header is gone.
Result<ExitCode> check_plain(port::File& file, const CheckCommandOptions& options) {
  TESSERA_TRY(const std::optional<int64_t> remains, container::find_remains(file));
  const bool named = container::parse_file_name(options.path).object;
  if (remains || named) {
    CheckReport found;
    found.findings = {"there is no superblock in it, although " +
                      (remains ? "contents of an object file stand at byte " +
                                     std::to_string(*remains) + ": its header was overwritten"
                               : "its name asks for an object file")};
    found.finding_count = 1;
    return tell(found, options);
  }
  base::JsonWriter writer;
  writer.begin_object().member("file", options.path).member("kind", "plain").end_object();
  const std::string text =
      options.path + ": a plain file; it has no checksums, so there is nothing to check\n";
  fmt::print("{}", options.json ? writer.finish() : text);
  return ExitCode::kOk;
}

Result<ExitCode> check_file(const CheckCommandOptions& options) {
  TESSERA_TRY(const auto file, open_regular(options.path, port::Access::kRead));
  const auto kind = kind_of(*file);
  // Damage is what the check is asked for; a newer version is not damage.
  if (!kind && kind.error().code != base::Code::kIntegrity) return base::failure_of(kind);
  if (kind && *kind == FileKind::kPlain) return check_plain(*file, options);
  CheckReport found;
  {
    Progress progress("checked");
    TESSERA_TRY(found, container::check(*file, {.blocks = !options.quick,
                                                .progress = [&](int64_t done, int64_t total) {
                                                  progress.show(done, total);
                                                }}));
  }
  TESSERA_TRY_VOID(require_unchanged(*file, found));
  return tell(found, options);
}

Result<container::CompactionReport> compact_file(const std::string& name) {
  const std::string path = container::parse_file_name(name).path;
  TESSERA_TRY(const auto file, open_regular(path, port::Access::kReadWrite));
  TESSERA_TRY(const FileKind kind, kind_of(*file));
  if (kind == FileKind::kPlain) {
    return base::fail(base::Code::kInvalid, path + " is a plain file; there is nothing to compact");
  }
  TESSERA_TRY(const auto target, container::Target::hold(path, port::Existing::kReplace));
  port::PosixDisk disk;
  Progress progress("compacted");
  port::remove_unfinished_at_signals();
  return container::compact(
      disk, target.path(),
      {.progress = [&](int64_t done, int64_t total) { progress.show(done, total); },
       .publish = [&](port::FreshFile& fresh) -> Result<void> {
         TESSERA_TRY_VOID(target.require_unchanged());
         TESSERA_TRY_VOID(container::copy_permissions(*target.file(), fresh.reach()));
         return fresh.publish(port::Existing::kReplace);
       }});
}

}  // namespace

std::string check_text(const std::string& path, const CheckReport& found) {
  std::string text;
  if (found.sound()) {
    text = fmt::format("{}: sound; commit {}, {} bytes in {} and {}, {} verified\n", path,
                       found.superblock.sequence, with_commas(found.superblock.logical_size),
                       counted(found.allocations, "allocation"), counted(found.mappings, "mapping"),
                       counted(found.blocks_checked, "block"));
    text += fmt::format("  not visible  {} bytes, overwritten or filling up blocks\n",
                        with_commas(found.dead_bytes));
    text +=
        fmt::format("  free         {} bytes between allocations\n", with_commas(found.free_bytes));
  } else {
    text = fmt::format("{}: damaged, {}\n", path, counted(found.finding_count, "finding"));
  }
  for (const std::string& sentence : found.findings) text += "  " + printable(sentence) + "\n";
  const int64_t more = found.finding_count - std::ssize(found.findings);
  if (more > 0) text += fmt::format("  ... and {} more\n", with_commas(more));
  for (const std::string& sentence : found.repairable) {
    text += "  repairable: " + printable(sentence) + "; opening the file for writing repairs it\n";
  }
  return text;
}

std::string check_json(const std::string& path, const CheckReport& found) {
  base::JsonWriter writer;
  const auto sentences = [&](const char* name, const std::vector<std::string>& list) {
    writer.key(name).begin_array();
    for (const std::string& sentence : list) writer.value(sentence);
    writer.end_array();
  };
  writer.begin_object().member("file", path).member("kind", "object");
  writer.member("sound", found.sound()).member("finding_count", found.finding_count);
  sentences("findings", found.findings);
  sentences("repairable", found.repairable);
  writer.member("sequence", std::to_string(found.superblock.sequence));
  writer.member("size_bytes", found.superblock.logical_size);
  writer.member("allocations", found.allocations).member("mappings", found.mappings);
  writer.member("blocks_checked", found.blocks_checked);
  writer.member("dead_bytes", found.dead_bytes).member("free_bytes", found.free_bytes);
  writer.end_object();
  return writer.finish();
}

ExitCode run_check(const CheckCommandOptions& options) {
  const auto code = check_file(options);
  return code ? *code : report(code.error(), options.json);
}

ExitCode run_compact(const CompactOptions& options) {
  const auto done = compact_file(options.path);
  if (!done) return report(done.error(), false);
  fmt::print("{}: {} bytes before, {} after; {} copied\n", options.path,
             with_commas(done->bytes_before), with_commas(done->bytes_after),
             with_commas(done->bytes_copied));
  return ExitCode::kOk;
}

}  // namespace tessera::cli
