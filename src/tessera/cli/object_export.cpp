#include <algorithm>

#include "tessera/cli/object_transfer.hpp"
#include "tessera/container/block_reader.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::cli {

namespace {

using base::Result;
using pattern::ByteSet;
using pattern::Interval;

constexpr int64_t kWindowBytes = int64_t{4} << 20;
// A window with more holes than this is written whole, zeros included.
constexpr int64_t kHolesMax = 64;

class Export {
 public:
  Export(OpenedObject& from, port::File& to, const ShowProgress& progress)
      : from_(from),
        to_(to),
        progress_(progress),
        reader_(*from.file, reader_options(from.contents)),
        window_(kWindowBytes) {}

  Result<TransferReport> run() {
    const container::Contents& contents = from_.contents;
    for (int64_t at = 0; at < contents.size; at += kWindowBytes) {
      TESSERA_TRY_VOID(copy({at, std::min(contents.size, at + kWindowBytes)}));
      if (progress_) progress_(std::min(contents.size, at + kWindowBytes), contents.size);
    }
    TESSERA_TRY_VOID(to_.truncate(contents.size));
    return TransferReport{contents.size, contents.map.covered_bytes(),
                          std::ssize(contents.allocations)};
  }

 private:
  static container::BlockReaderOptions reader_options(const container::Contents& contents) {
    container::BlockReaderOptions options;
    options.block_bytes = contents.block_bytes;
    options.logical_bytes = [&contents](map::AllocationId id, Interval places) {
      return container::logical_bytes(contents, id, places);
    };
    return options;
  }

  Result<void> copy(Interval bytes) {
    TESSERA_TRY(const ByteSet request, ByteSet::of(bytes));
    TESSERA_TRY(const map::Found found, from_.contents.map.find(request));
    if (found.parts.empty()) return {};
    if (!found.missing.empty()) std::fill(window_.begin(), window_.end(), std::byte{0});
    for (const map::Part& part : found.parts) TESSERA_TRY_VOID(fetch(part, bytes.begin));
    if (found.missing.runs() > kHolesMax) return write(bytes, bytes.begin);
    TESSERA_TRY(const ByteSet stored, found.missing.complement(bytes));
    const pattern::Pattern& runs = stored.ascending();
    for (int64_t at = 0; at < runs.size();) {
      const int64_t end = runs.run_at(at).end;
      const int64_t begin = runs.position(at)[0];
      TESSERA_TRY_VOID(write({begin, begin + end - at}, bytes.begin));
      at = end;
    }
    return {};
  }

  // The part's bytes, to their place in the window.
  Result<void> fetch(const map::Part& part, int64_t window_begin) {
    const container::Allocation& allocation = *from_.contents.find(part.allocation);
    if (part.bytes.runs() == 1) {
      const auto at = static_cast<size_t>(part.bytes.span().begin - window_begin);
      return reader_.read_places(
          allocation, part.places,
          std::span(window_).subspan(at, static_cast<size_t>(part.bytes.size())));
    }
    packed_.resize(static_cast<size_t>(part.bytes.size()));
    TESSERA_TRY_VOID(reader_.read_places(allocation, part.places, packed_));
    TESSERA_TRY(const ByteSet there, part.bytes.shifted(-window_begin));
    pattern::scatter(window_.data(), packed_.data(), there.ascending());
    return {};
  }

  Result<void> write(Interval bytes, int64_t window_begin) {
    const auto memory = base::ByteView(window_).subspan(
        static_cast<size_t>(bytes.begin - window_begin), static_cast<size_t>(bytes.length()));
    return to_.write_at(bytes.begin, memory).status;
  }

  OpenedObject& from_;
  port::File& to_;
  const ShowProgress& progress_;
  container::BlockReader reader_;
  base::Bytes window_;
  base::Bytes packed_;
};

}  // namespace

Result<TransferReport> export_bytes(OpenedObject& from, port::File& to,
                                    const ShowProgress& progress) {
  Result<TransferReport> report = Export(from, to, progress).run();
  if (report || report.error().code != base::Code::kIntegrity) return report;
  const auto newer = from.container.refresh();
  if (!newer || !*newer) return report;
  return base::fail(base::Code::kRetry, from.file->path() +
                                            " was changed while it was read; try again when its "
                                            "writer is done");
}

}  // namespace tessera::cli
