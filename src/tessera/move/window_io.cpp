#include "tessera/move/window_io.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/base/page.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/large_pages.hpp"
#include "tessera/move/phase_timer.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::move {

namespace {

using base::kPageBytes;
// Runs written in one call.
constexpr size_t kListedRuns = 512;

base::ByteView view_of(const Window& window, Interval part) {
  return {window.bytes + part.begin, static_cast<size_t>(part.length())};
}

// Whether there are more marked runs than a number.
bool has_more_runs(const CoverageMap& map, int64_t length, int64_t number) {
  int64_t runs = 0;
  for (int64_t at = 0; at < length && runs <= number; ++runs) {
    const Interval run = map.next_marked({at, length});
    if (run.empty()) break;
    at = run.end;
  }
  return runs > number;
}

enum class GapWay { kList, kMapped, kMerged };

// How to write a window with gaps.
GapWay choose_gap_way(const Window& window, const CoverageMap& map, const Context& context) {
  if (context.hints.ds_write == Toggle::kEnable) return GapWay::kMerged;
  const bool mappable = can_map(context.file);
  if (!mappable && context.hints.ds_write == Toggle::kDisable) return GapWay::kList;
  const Costs& costs = context.costs;
  const auto length = static_cast<double>(window.file.length());
  const double mapped_ns = costs.map_ns + length / kPageBytes * costs.unknown_page_ns();
  const double merged_ns =
      costs.lock_ns + 2 * costs.request_ns + length * (costs.read_byte_ns + costs.write_byte_ns);
  const double other_ns = (mappable ? mapped_ns : merged_ns) + length * costs.copy_byte_ns;
  constexpr double kRunsMax = 1e15;
  const auto runs = static_cast<int64_t>(std::min(other_ns / costs.listed_write_ns, kRunsMax));
  if (!has_more_runs(map, window.file.length(), runs)) return GapWay::kList;
  return mappable ? GapWay::kMapped : GapWay::kMerged;
}

Outcome write_segments(const Window& window, const std::vector<port::WriteSegment>& segments,
                       Context& context) {
  const PhaseTimer timer(context.phases, &Phases::io_ns);
  Transfer transfer = context.file.write_list(segments);
  int64_t left = transfer.bytes;
  for (const port::WriteSegment& segment : segments) {
    const auto length = base::exact_cast<int64_t>(segment.memory.size());
    if (left < length) return {segment.offset + left, std::move(transfer.status)};
    left -= length;
  }
  return {window.file.end, std::move(transfer.status)};
}

Outcome write_marked(const Window& window, const CoverageMap& map, Context& context) {
  std::vector<port::WriteSegment> segments;
  const int64_t length = window.file.length();
  for (int64_t at = 0; at < length;) {
    const Interval run = map.next_marked({at, length});
    at = run.end;
    if (!run.empty()) segments.push_back({window.file.begin + run.begin, view_of(window, run)});
    if (segments.size() < kListedRuns && at < length) continue;
    Outcome outcome = write_segments(window, segments, context);
    if (!outcome.status) return outcome;
    segments.clear();
  }
  return {window.file.end, {}};
}

// Makes the file as long as the window reaches, so that it can be stored to, by writing the last
// byte; also where it is long enough, for the reason that mapped.cpp tells.
bool extend_file(const Window& window, Context& context) {
  const PhaseTimer timer(context.phases, &Phases::io_ns);
  const int64_t last = window.file.length() - 1;
  const auto written =
      context.file.write_at(window.file.end - 1, view_of(window, {last, last + 1}));
  return written.status.has_value();
}

// Whatever goes wrong here is tried again by system calls, which tell the reason.
Outcome write_mapped(const Window& window, const CoverageMap& map, Context& context) {
  auto& file = static_cast<port::PlainFile&>(context.file);
  if (!extend_file(window, context)) return write_marked(window, map, context);
  const Interval pages = large_pages_around(window.file);
  const auto mapping =
      port::FileMapping::map(file, pages.begin, pages.end, port::Access::kReadWrite);
  if (!mapping) return write_marked(window, map, context);
  const PhaseTimer timer(context.phases, &Phases::copy_ns);
  const int64_t length = window.file.length();
  std::byte* to = mapping->data() + (window.file.begin - pages.begin);
  const bool stored = mapping->touch([&window, &map, to, length] {
    for (int64_t at = 0; at < length;) {
      const Interval run = map.next_marked({at, length});
      std::copy_n(window.bytes + run.begin, run.length(), to + run.begin);
      at = run.end;
    }
  });
  // Behind the end of a file that others have cut meanwhile, nothing was stored.
  const auto size = file.size();
  const bool whole = stored && size && *size >= window.file.end;
  return whole ? Outcome{window.file.end, {}} : write_marked(window, map, context);
}

// Takes over the bytes that are not marked; what lies behind the end of the file counts as zero.
void fill_gaps(const Window& window, const CoverageMap& map, base::ByteView stored) {
  const int64_t length = window.file.length();
  const auto there = base::exact_cast<int64_t>(stored.size());
  for (int64_t at = 0; at < length;) {
    const Interval gap = map.next_unmarked({at, length});
    at = gap.end;
    const int64_t known = std::clamp(there, gap.begin, gap.end);
    std::copy(stored.data() + std::min(gap.begin, known), stored.data() + known,
              window.bytes + gap.begin);
    std::fill(window.bytes + known, window.bytes + gap.end, std::byte{0});
  }
}

Outcome write_merged(const Window& window, const CoverageMap& map, Context& context) {
  const auto length = static_cast<size_t>(window.file.length());
  const std::unique_ptr<std::byte[]> stored(new (std::nothrow) std::byte[length]);
  auto bytes = pattern::ByteSet::of(window.file);
  if (!stored || !bytes) return write_marked(window, map, context);
  auto held = [&] {
    const PhaseTimer timer(context.phases, &Phases::lock_ns);
    return context.locks.acquire(*bytes, lock::Mode::kExclusive);
  }();
  if (!held) return {window.file.begin, base::failure_of(held)};
  const Outcome read = read_window({window.file, stored.get()}, context);
  if (!read.status && read.status.error().errno_value == EBADF) {
    held->release();
    return write_marked(window, map, context);
  }
  if (!read.status) return {window.file.begin, read.status};
  fill_gaps(window, map, {stored.get(), static_cast<size_t>(read.end - window.file.begin)});
  return write_window(window, context);
}

}  // namespace

Outcome read_window(const Window& window, Context& context) {
  const PhaseTimer timer(context.phases, &Phases::io_ns);
  const auto length = static_cast<size_t>(window.file.length());
  Transfer transfer = context.file.read_at(window.file.begin, {window.bytes, length});
  return {window.file.begin + transfer.bytes, std::move(transfer.status)};
}

Outcome write_window(const Window& window, Context& context) {
  const PhaseTimer timer(context.phases, &Phases::io_ns);
  const auto length = static_cast<size_t>(window.file.length());
  Transfer transfer = context.file.write_at(window.file.begin, {window.bytes, length});
  return {window.file.begin + transfer.bytes, std::move(transfer.status)};
}

Outcome write_covered(const Window& window, const CoverageMap& map, Context& context) {
  const int64_t length = window.file.length();
  if (map.next_unmarked({0, length}).empty()) return write_window(window, context);
  switch (choose_gap_way(window, map, context)) {
    case GapWay::kMapped:
      return write_mapped(window, map, context);
    case GapWay::kMerged:
      return write_merged(window, map, context);
    case GapWay::kList:
      break;
  }
  return write_marked(window, map, context);
}

}  // namespace tessera::move
