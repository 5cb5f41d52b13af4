#include "tessera/cli/output_file.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tessera/cli/page.hpp"
#include "tessera/container/file_kind.hpp"
#include "tessera/owner/writers_codec.hpp"
#include "tessera/port/posix_disk.hpp"

namespace tessera::cli {

using base::Result;
using container::Target;

namespace {

// So many bytes of the beginning and of the end of a file are looked at.
constexpr int64_t kLookedAtBytes = 4096;

// As messages call the kinds, in their order.
constexpr std::array<const char*, 4> kNames = {"page of tessera", "plan of writers", "partition",
                                               "profile"};

bool is_plan(std::string_view begin, int64_t size) {
  const size_t head_bytes = std::min(begin.size(), owner::kPlanHeadBytes);
  const auto head = owner::check_plan_head(base::bytes_of(begin.substr(0, head_bytes)), size);
  return head || head.error().code != base::Code::kInvalid;
}

// One number a line.
bool is_partition(std::string_view begin) {
  const bool digits = begin.find_first_not_of("0123456789\n") == begin.npos;
  return digits && begin.front() != '\n';
}

bool is_profile(std::string_view begin) {
  return begin.front() == '{' && begin.find("\"tessera-profile\"") != begin.npos;
}

Result<std::string> text_at(port::File& file, int64_t begin) {
  std::string text(static_cast<size_t>(kLookedAtBytes), '\0');
  const port::Transfer read =
      file.read_at(begin, {reinterpret_cast<std::byte*>(text.data()), text.size()});
  TESSERA_TRY_VOID(read.status);
  text.resize(static_cast<size_t>(read.bytes));
  return text;
}

Result<bool> is_of_kind(port::File& file, OutputKind kind, int64_t size) {
  TESSERA_TRY(const std::string begin, text_at(file, 0));
  if (begin.empty()) return true;
  if (kind == OutputKind::kPlan) return is_plan(begin, size);
  if (kind == OutputKind::kPartition) return is_partition(begin);
  if (kind == OutputKind::kProfile) return is_profile(begin);
  TESSERA_TRY(const std::string end, text_at(file, std::max<int64_t>(0, size - kLookedAtBytes)));
  return is_page(begin, end);
}

Result<void> may_replace(port::File& file, OutputKind kind) {
  TESSERA_TRY(const bool object, container::has_superblock(file));
  if (object) {
    return base::fail(base::Code::kInvalid,
                      fmt::format("{} is an object file; name another file", file.path()));
  }
  TESSERA_TRY(const int64_t size, file.size());
  TESSERA_TRY(const bool own, is_of_kind(file, kind, size));
  if (own) return {};
  return base::fail(base::Code::kInvalid,
                    fmt::format("{} is there and is no {}; remove it, or name another file",
                                file.path(), kNames.at(static_cast<size_t>(kind))));
}

Result<Target> hold(const std::string& path, OutputKind kind) {
  return Target::hold(path, port::Existing::kReplace,
                      [kind](port::PlainFile& file) { return may_replace(file, kind); });
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, const OutputOptions& options) {
  const auto existing = options.replace ? port::Existing::kReplace : port::Existing::kKeep;
  TESSERA_TRY(Target target, options.own ? hold(path, *options.own) : Target::hold(path, existing));
  // Whoever interrupts a long command does not want to look for what it left.
  port::remove_unfinished_at_signals();
  TESSERA_TRY(auto fresh, port::PosixFreshFile::create(target.path(), options.permissions));
  return OutputFile(std::move(target), std::move(fresh));
}

Result<void> OutputFile::finish() {
  TESSERA_TRY_VOID(file().sync());
  if (target_.file() != nullptr) {
    TESSERA_TRY_VOID(container::copy_permissions(*target_.file(), fresh_->reach()));
  }
  TESSERA_TRY_VOID(target_.publish(*fresh_));
  fresh_.reset();
  return port::PosixDisk().sync_directory(port::directory_of(target_.path()));
}

Result<void> check_output(const std::string& path, OutputKind kind) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return {};
  TESSERA_TRY_VOID(hold(path, kind));
  return {};
}

}  // namespace tessera::cli
