#include "tessera/remap/request.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>

#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"
#include "tessera/container/file_kind.hpp"
#include "tessera/container/reader_lock.hpp"
#include "tessera/container/target.hpp"
#include "tessera/object/views_file.hpp"
#include "tessera/port/cores.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/posix_disk.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::remap {

namespace {

using base::Code;
using base::Result;

Result<std::vector<Consumer>> of_views_file(port::Disk& disk, const std::string& path) {
  TESSERA_TRY(const std::string text, read_views_text(disk, path));
  TESSERA_TRY(const object::ViewsFile file, object::parse_views(text));
  return consumers_of(file);
}

// Of an object file, as its views continue to `size`, or of a views file.
Result<std::vector<Consumer>> of_either(port::Disk& disk, const std::string& path, int64_t size) {
  TESSERA_TRY(const auto file, disk.open(path, port::Access::kRead));
  TESSERA_TRY(const bool objects, is_object_file(*file));
  if (objects) {
    TESSERA_TRY(const auto source, ObjectSource::open(*file));
    return consumers_of(source->contents(), size);
  }
  auto consumers = of_views_file(disk, path);
  if (consumers) return consumers;
  return base::fail(Code::kInvalid, path + " is not an object file, and as a views file: " +
                                        consumers.error().message());
}

// Those of the file that is replaced, or of the source.
Result<void> give_permissions(const Request& request, const container::Target& target,
                              const std::string& fresh) {
  if (target.file() != nullptr) return container::copy_permissions(*target.file(), fresh);
  struct stat found {};
  if (::stat(request.in.c_str(), &found) != 0) return {};
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::chmod(fresh.c_str(), found.st_mode & 0666 & ~mask) == 0) return {};
  return base::fail_errno(errno, "set the permissions of " + request.out);
}

bool replaces_its_source(const Request& request) {
  return container::is_one_file(request.in, request.out);
}

Result<container::Target> hold_target(const Request& request) {
  const bool drops = !request.options.plan.keep_rest && replaces_its_source(request);
  if (drops && request.options.existing == port::Existing::kKeep) {
    return base::fail(Code::kInvalid,
                      request.out +
                          " would lose the bytes that nobody views: it is its own source, and "
                          "--only-views leaves them out; name another file, or add --force");
  }
  return container::Target::hold(request.out, request.options.existing);
}

// Threads are no ranks that people know of.
Result<RemapReport> without_rank(const Result<RemapReport>& result) {
  if (result || !result.error().context.starts_with("rank ")) return result;
  base::Error error = result.error();
  error.context.erase(0, error.context.find(": ") + 2);
  return base::Failure{error};
}

}  // namespace

Result<std::string> read_views_text(port::Disk& disk, const std::string& path) {
  TESSERA_TRY(const auto file, disk.open(path, port::Access::kRead));
  TESSERA_TRY(const int64_t size, file->size());
  if (size > base::JsonLimits{}.size_bytes) {
    return base::fail(Code::kInvalid, "too large for a views file");
  }
  std::string text(static_cast<size_t>(size), '\0');
  const port::Transfer read =
      file->read_at(0, {reinterpret_cast<std::byte*>(text.data()), text.size()});
  TESSERA_TRY_VOID(read.status);
  text.resize(static_cast<size_t>(read.bytes));
  return text;
}

std::string path_of(const std::string& name) { return container::parse_file_name(name).path; }

Result<std::vector<Consumer>> load_consumers(port::Disk& disk, const Request& request,
                                             int64_t size) {
  const std::string& path = request.views.empty() ? request.like : request.views;
  if (path.empty()) return base::fail(Code::kInvalid, "the request names no views");
  auto consumers = request.views.empty() ? of_either(disk, path, size) : of_views_file(disk, path);
  if (consumers || consumers.error().context.find(path) != std::string::npos) return consumers;
  base::Error error = consumers.error();
  error.context = path + ": " + error.context;
  return base::Failure{error};
}

Result<RemapReport> run_request(port::Exchange& exchange, port::Disk& disk, const Request& request,
                                const PublishFile& publish) {
  struct Opened {
    std::unique_ptr<port::File> file;
    std::unique_ptr<Source> source;
    std::vector<Consumer> consumers;
  } opened;
  const auto open = [&]() -> Result<void> {
    TESSERA_TRY(opened.file, disk.open(request.in, port::Access::kRead));
    TESSERA_TRY(opened.source, open_source(*opened.file));
    TESSERA_TRY(opened.consumers, load_consumers(disk, request, opened.source->size()));
    return {};
  };
  TESSERA_TRY_VOID(exchange.agree(open()));
  port::SystemRandom random;
  return remap({exchange, *opened.source, disk, random, request.out, publish}, opened.consumers,
               request.options);
}

Result<RemapReport> run_on_machine(port::Exchange& exchange, const Request& given) {
  Request request = given;
  request.in = path_of(given.in);
  request.out = path_of(given.out);
  request.like = path_of(given.like);
  std::optional<container::Target> target;  // of the first rank
  bool in_place = false;
  const auto hold = [&]() -> Result<void> {
    TESSERA_TRY(target, hold_target(request));
    in_place = target->file() != nullptr && replaces_its_source(request);
    request.out = target->path();
    return {};
  };
  TESSERA_TRY_VOID(exchange.agree(exchange.rank() == 0 ? hold() : Result<void>()));
  // Whoever writes the source meanwhile leaves the commit that is read here alone.
  // What cannot be opened is refused below.
  const auto read = port::PlainFile::open(request.in, {.read = true});
  TESSERA_TRY_VOID(exchange.agree(read ? container::try_hold_for_reading(**read) : Result<void>()));
  port::PosixDisk disk;
  return run_request(exchange, disk, request, [&](port::FreshFile& fresh) -> Result<void> {
    if (in_place) TESSERA_TRY_VOID(target->require_unchanged());
    TESSERA_TRY_VOID(give_permissions(request, *target, fresh.reach()));
    return target->publish(fresh);
  });
}

int64_t default_threads() {
  constexpr int64_t kThreadsMax = 4;
  return std::clamp<int64_t>(port::cores(), 1, kThreadsMax);
}

Result<RemapReport> run_in_threads(const Request& request, int64_t threads) {
  if (threads == 0) threads = default_threads();
  std::vector<Result<RemapReport>> results(static_cast<size_t>(threads), RemapReport{});
  port::run_ranks(static_cast<int>(threads), [&](port::Exchange& exchange) {
    Request mine = request;
    mine.options.fill.syncs = exchange.rank() == 0;
    results[static_cast<size_t>(exchange.rank())] = run_on_machine(exchange, mine);
  });
  return without_rank(results.front());
}

std::string summary_text(const RemapReport& report, double seconds) {
  constexpr double kMebi = 1 << 20;
  constexpr double kGibi = 1 << 30;
  char line[256];
  const auto stored = static_cast<double>(report.stored_bytes);
  std::snprintf(
      line, sizeof line,
      "%.1f MiB in %.3f s (%.2f GiB/s), %lld allocations, %.1f MiB of them copies of shared "
      "bytes",
      stored / kMebi, seconds, stored / kGibi / seconds, static_cast<long long>(report.shelves),
      static_cast<double>(report.extra_bytes) / kMebi);
  return line;
}

std::string summary_json(const RemapReport& report, double seconds) {
  base::JsonWriter writer;
  writer.begin_object();
  writer.member("size_bytes", report.size_bytes);
  writer.member("stored_bytes", report.stored_bytes);
  writer.member("extra_bytes", report.extra_bytes);
  writer.member("allocations", report.shelves);
  writer.member("seconds", seconds);
  return writer.end_object().finish();
}

}  // namespace tessera::remap
