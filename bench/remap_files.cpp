#include "bench/remap_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "bench/case.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/container/container.hpp"
#include "tessera/object/views_file.hpp"
#include "tessera/pattern/copy.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/posix_disk.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/thread_exchange.hpp"
#include "tessera/remap/request.hpp"

namespace tessera::bench {

namespace {

using base::Result;

constexpr int64_t kWordBytes = 8;
constexpr int64_t kWindowBytes = int64_t{8} << 20;

uint64_t word_at(int64_t offset) {
  const uint64_t word = (static_cast<uint64_t>(offset / kWordBytes) + 1) * 0x9E3779B97F4A7C15U;
  return word ^ (word >> 29);
}

Result<std::vector<remap::Consumer>> consumers_in(const std::string& views_text) {
  TESSERA_TRY(const object::ViewsFile file, object::parse_views(views_text));
  return remap::consumers_of(file);
}

Result<void> wrong(const std::string& path, const std::string& what) {
  return base::fail(base::Code::kIntegrity, path + ": " + what);
}

// The bytes of a set in file order, through the file's map.
Result<void> read_set(cache::ObjectFile& objects, const pattern::ByteSet& set,
                      std::span<std::byte> packed) {
  move::Move move;
  move.direction = move::Direction::kRead;
  move.file = set.ascending();
  TESSERA_TRY(move.memory, pattern::Pattern::run({{0}}, set.size()));
  move.base = packed.data();
  return objects.read(move).status;
}

// Whether what consumers see in a window of the file is its content.
Result<void> check_window(cache::ObjectFile& objects, const std::string& path,
                          std::span<const remap::Consumer> consumers, pattern::Interval window) {
  base::Bytes content(base::exact_cast<size_t>(window.length()));
  fill_content(window.begin, content);
  base::Bytes expected(content.size());
  base::Bytes found(content.size());
  for (const remap::Consumer& consumer : consumers) {
    const pattern::ByteSet part = consumer.bytes.within(window);
    if (part.empty()) continue;
    const auto size = base::exact_cast<size_t>(part.size());
    TESSERA_TRY(const pattern::Pattern places, part.ascending().shifted({{-window.begin}}));
    pattern::gather(expected.data(), content.data(), places);
    TESSERA_TRY_VOID(read_set(objects, part, std::span(found).first(size)));
    if (std::memcmp(expected.data(), found.data(), size) == 0) continue;
    return wrong(path, fmt::format("process {} reads wrong bytes in [{}, {})", consumer.process,
                                   window.begin, window.end));
  }
  return {};
}

Result<void> check_places(const std::string& path, port::File& file,
                          std::span<const remap::Consumer> consumers, int64_t size) {
  TESSERA_TRY(auto container, container::Container::open(file));
  TESSERA_TRY(const container::Contents contents, container.read_contents());
  if (contents.size != size) return wrong(path, "has another size than its source");
  for (const remap::Consumer& consumer : consumers) {
    if (contents.map.find_whole(consumer.bytes, 0)) continue;
    return wrong(path,
                 fmt::format("the view of process {} is in several places", consumer.process));
  }
  return {};
}

}  // namespace

void fill_content(int64_t offset, std::span<std::byte> memory) {
  const auto size = std::ssize(memory);
  for (int64_t i = 0; i < size;) {
    const uint64_t word = word_at(offset + i);
    const int64_t from = (offset + i) % kWordBytes;
    const int64_t part = std::min(kWordBytes - from, size - i);
    std::memcpy(memory.data() + i, reinterpret_cast<const std::byte*>(&word) + from,
                static_cast<size_t>(part));
    i += part;
  }
}

Result<void> make_object_file(const std::string& path, const std::string& views_text,
                              int64_t size) {
  TESSERA_TRY(const auto consumers, consumers_in(views_text));
  const auto threads = static_cast<int>(remap::default_threads());
  std::vector<Result<remap::RemapReport>> results(static_cast<size_t>(threads),
                                                  remap::RemapReport{});
  port::run_ranks(threads, [&](port::Exchange& exchange) {
    ContentSource source(size);
    port::PosixDisk disk;
    port::SystemRandom random;
    remap::RemapOptions options;
    options.fill.syncs = exchange.rank() == 0;
    results[static_cast<size_t>(exchange.rank())] =
        remap::remap({exchange, source, disk, random, path}, consumers, options);
  });
  return results.front() ? Result<void>() : base::failure_of(results.front());
}

Result<void> make_plain_file(const std::string& path, int64_t size) {
  TESSERA_TRY(const auto file, port::PlainFile::open(path, {.write = true, .create = true}));
  base::Bytes window(static_cast<size_t>(kWindowBytes));
  for (int64_t begin = 0; begin < size; begin += kWindowBytes) {
    const auto part =
        std::span(window).first(static_cast<size_t>(std::min(kWindowBytes, size - begin)));
    fill_content(begin, part);
    TESSERA_TRY_VOID(file->write_at(begin, part).status);
  }
  return file->sync();
}

Result<void> check_plain_file(const std::string& path, int64_t size) {
  TESSERA_TRY(const auto file, port::PlainFile::open(path, {.read = true}));
  TESSERA_TRY(const int64_t found_size, file->size());
  if (found_size != size) return wrong(path, "has another size than its source");
  base::Bytes expected(static_cast<size_t>(kWindowBytes));
  base::Bytes found(expected.size());
  for (int64_t begin = 0; begin < size; begin += kWindowBytes) {
    const auto part = static_cast<size_t>(std::min(kWindowBytes, size - begin));
    fill_content(begin, std::span(expected).first(part));
    TESSERA_TRY_VOID(file->read_at(begin, std::span(found).first(part)).status);
    if (std::memcmp(expected.data(), found.data(), part) == 0) continue;
    return wrong(path, fmt::format("wrong bytes from {} on", begin));
  }
  return {};
}

Result<void> check_object_file(const std::string& path, const std::string& views_text,
                               int64_t size) {
  TESSERA_TRY(auto consumers, consumers_in(views_text));
  TESSERA_TRY(const auto file, port::PlainFile::open(path, {.read = true}));
  TESSERA_TRY_VOID(check_places(path, *file, consumers, size));
  port::SelfTeam team;
  cache::OwnNumbers numbers;
  port::SystemRandom random;
  TESSERA_TRY(const auto objects,
              cache::ObjectFile::open(*file, {team, &team, numbers, true}, random, {}));
  for (int64_t begin = 0; begin < size; begin += kWindowBytes) {
    const pattern::Interval window = {begin, std::min(size, begin + kWindowBytes)};
    TESSERA_TRY_VOID(check_window(*objects, path, consumers, window));
  }
  return {};
}

Result<remap::RemapReport> remap_once(const RemapFiles& files, bool synced) {
  remap::Request request;
  request.in = files.source();
  request.out = files.target();
  request.views = files.views();
  request.options.durable = synced;
  return remap::run_in_threads(request);
}

Result<double> time_anew(const RemapFiles& files, int64_t repetitions,
                         const std::function<Result<void>(const RemapFiles&)>& once) {
  double ns = 0;
  for (int64_t i = 0; i < repetitions; ++i) {
    TESSERA_TRY_VOID(remove_file(files.target()));
    const double start = now_ns();
    TESSERA_TRY_VOID(once(files));
    ns += now_ns() - start;
  }
  return ns;
}

Result<void> remove_file(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (!error) return {};
  return base::fail_errno(error.value(), "cannot remove " + path);
}

Result<void> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return base::fail(base::Code::kFailed, "cannot write " + path);
}

}  // namespace tessera::bench
