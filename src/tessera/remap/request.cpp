#include "tessera/remap/request.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>

#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"
#include "tessera/container/reader_lock.hpp"
#include "tessera/container/writer_claim.hpp"
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

// Of the file that is replaced, or of the source; nothing can be lost by it.
std::optional<mode_t> permissions_for(const Request& request) {
  struct stat found {};
  if (::stat(request.out.c_str(), &found) == 0) return found.st_mode & 0777;
  if (::stat(request.in.c_str(), &found) != 0) return std::nullopt;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return found.st_mode & 0666 & ~mask;
}

// Fails if the file that is to be replaced is somebody's who writes it.
Result<void> check_target(const std::string& path) {
  const auto file = port::PlainFile::open(path, {.read = true});
  if (!file) return file.error().code == Code::kNotFound ? Result<void>() : base::failure_of(file);
  if (!container::has_writer(**file)) return {};
  return base::fail(Code::kRetry,
                    path + " is open for writing; wait until that job has ended, or name another");
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

std::string path_of(const std::string& name) {
  constexpr std::string_view kPrefix = "obj:";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

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

Result<RemapReport> run_request(port::Exchange& exchange, port::Disk& disk,
                                const Request& request) {
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
  return remap({exchange, *opened.source, disk, random, request.out}, opened.consumers,
               request.options);
}

Result<RemapReport> run_on_machine(port::Exchange& exchange, const Request& given) {
  Request request = given;
  request.in = path_of(given.in);
  request.out = path_of(given.out);
  request.like = path_of(given.like);
  const bool first = exchange.rank() == 0;
  TESSERA_TRY_VOID(exchange.agree(first ? check_target(request.out) : Result<void>()));
  const auto permissions = permissions_for(request);
  // Whoever writes the source meanwhile leaves the commit that is read here alone.
  const auto read = port::PlainFile::open(request.in, {.read = true});
  if (read) container::hold_for_reading(**read);
  port::PosixDisk disk;
  TESSERA_TRY(const RemapReport report, run_request(exchange, disk, request));
  Result<void> allowed;
  if (first && permissions && ::chmod(request.out.c_str(), *permissions) != 0) {
    allowed = base::fail_errno(errno, "set the permissions of " + request.out);
  }
  TESSERA_TRY_VOID(exchange.agree(allowed));
  return report;
}

int64_t default_threads() {
  constexpr int64_t kThreadsMax = 4;
  return std::clamp<int64_t>(port::cores(), 1, kThreadsMax);
}

Result<RemapReport> run_in_threads(const Request& request, int64_t threads) {
  if (threads == 0) threads = default_threads();
  std::vector<Result<RemapReport>> results(static_cast<size_t>(threads), RemapReport{});
  port::WriteGate gate;
  port::run_ranks(static_cast<int>(threads), [&](port::Exchange& exchange) {
    Request mine = request;
    mine.options.fill.syncs = exchange.rank() == 0;
    mine.options.fill.gate = &gate;
    results[static_cast<size_t>(exchange.rank())] = run_on_machine(exchange, mine);
  });
  return without_rank(results.front());
}

std::string summary_text(const RemapReport& report, double seconds) {
  constexpr double kMega = 1e6;
  constexpr double kGiga = 1e9;
  char line[256];
  const auto stored = static_cast<double>(report.stored_bytes);
  std::snprintf(line, sizeof line,
                "%.1f MB in %.3f s (%.2f GB/s), %lld allocations, %.1f MB of them copies of shared "
                "bytes",
                stored / kMega, seconds, stored / kGiga / seconds,
                static_cast<long long>(report.shelves),
                static_cast<double>(report.extra_bytes) / kMega);
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
