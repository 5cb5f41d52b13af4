#include "tessera/mpiio/view_record.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tessera/base/bytes.hpp"
#include "tessera/mpiio/open_file.hpp"
#include "tessera/mpiio/views_folder.hpp"
#include "tessera/object/views_text.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/remap/plan.hpp"

namespace tessera::mpiio {

using base::Result;
using pattern::ByteSet;
using pattern::Interval;

namespace {

const std::string& folder() {
  static const auto& named = *new std::string([] {
    const char* value = std::getenv("TESSERA_RECORD_VIEWS");
    return value == nullptr ? std::string() : std::string(value);
  }());
  return named;
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

bool shows_all(const FileView& view) {
  const pattern::Pattern& tile = view.ascending.tile();
  return !view.overlapping && !view.limit && tile.runs() == 1 &&
         tile.size() == view.ascending.extent();
}

// What a rank tells the first one: whether it is its bytes, and they or why they are not.
base::Bytes encode(const Result<ByteSet>& bytes) {
  base::Bytes told = {bytes ? std::byte{1} : std::byte{0}};
  const base::Bytes rest = bytes ? pattern::encode(bytes->ascending())
                                 : base::copy_of(base::bytes_of(bytes.error().message()));
  told.insert(told.end(), rest.begin(), rest.end());
  return told;
}

Result<ByteSet> decode(const base::Bytes& told) {
  const base::ByteView rest = base::ByteView(told).subspan(1);
  if (told.front() == std::byte{0}) {
    return base::fail(base::Code::kFailed, std::string(base::text_of(rest)));
  }
  TESSERA_TRY(pattern::Pattern bytes, pattern::decode<1>(rest));
  return ByteSet::of_ascending(std::move(bytes));
}

// Those who saw something.
Result<std::vector<remap::Consumer>> consumers_of(const std::vector<base::Bytes>& told) {
  std::vector<remap::Consumer> consumers;
  for (size_t rank = 0; rank < told.size(); ++rank) {
    auto bytes = decode(told[rank]);
    if (!bytes) {
      return base::fail(bytes.error().code,
                        "rank " + std::to_string(rank) + ": " + bytes.error().message());
    }
    if (!bytes->empty()) consumers.push_back({static_cast<int32_t>(rank), *std::move(bytes)});
  }
  return consumers;
}

Result<void> write_views(const std::string& path, const std::vector<base::Bytes>& told,
                         int64_t size) {
  TESSERA_TRY(const auto consumers, consumers_of(told));
  if (consumers.empty()) return {};
  const std::string comment = "what the ranks of a job saw of " + path;
  RecordedText recorded;
  recorded.base = std::filesystem::path(path).filename().string();
  recorded.begin = object::text_begin(comment);
  TESSERA_TRY(recorded.text, object::text_of_views(remap::views_file_of(consumers, size), comment));
  TESSERA_TRY(const std::string written, put_text(folder(), recorded));
  return {};
}

void report_once(const std::string& path, const base::Error& error) {
  static std::atomic_flag reported;
  if (reported.test_and_set()) return;
  std::fprintf(stderr, "tessera: cannot record the views of %s: %s\n", path.c_str(),
               error.message().c_str());
}

}  // namespace

bool ViewRecord::wanted() { return !folder().empty(); }

ViewRecord::ViewRecord(const std::string& path) : path_(absolute(path)) {}

void ViewRecord::set_view(const FileView& view) {
  if (view.empty || shows_all(view)) return;
  overlapping_ = view.overlapping;
  limit_ = view.limit;
  ascending_ = view.ascending;
}

void ViewRecord::note_access(Interval bytes) {
  if (bytes.empty()) return;
  accessed_.with([&](Interval& all) {
    if (all.empty()) all = bytes;
    all = {std::min(all.begin, bytes.begin), std::max(all.end, bytes.end)};
  });
}

Result<ByteSet> ViewRecord::bytes_below(int64_t size) {
  const Interval file{0, size};
  if (overlapping_) {
    TESSERA_TRY(const auto stream, overlapping_->bytes({0, overlapping_->offset_of(size)}));
    TESSERA_TRY(const ByteSet bytes, ByteSet::of(stream));
    return bytes.within(file);
  }
  if (!ascending_) {
    TESSERA_TRY(const ByteSet bytes, ByteSet::of(accessed_.with([](Interval all) { return all; })));
    return bytes.within(file);
  }
  if (!limit_) return ascending_->within(file);
  TESSERA_TRY(const auto stream, ascending_->bytes({0, *limit_}));
  return ByteSet::of_ascending(stream.within(file));
}

void ViewRecord::write(port::Exchange& exchange, int64_t size) {
  const auto whole = exchange.all_max(static_cast<uint64_t>(std::max<int64_t>(size, 0)));
  if (!whole || *whole == 0) return;
  const auto bytes = static_cast<int64_t>(*whole);
  const auto told = exchange.gather(0, encode(bytes_below(bytes)));
  if (!told || exchange.rank() != 0) return;
  const auto written = write_views(path_, *told, bytes);
  if (!written) report_once(path_, written.error());
}

}  // namespace tessera::mpiio
