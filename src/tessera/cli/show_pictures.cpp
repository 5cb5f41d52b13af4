#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/ruler.hpp"
#include "tessera/cli/show_page.hpp"
#include "tessera/cli/svg.hpp"
#include "tessera/container/space.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::cli {

namespace {

using container::Contents;
using pattern::Interval;

constexpr int64_t kBins = 400;
constexpr double kRow = 22;
constexpr double kLeft = 110;
constexpr int kShades = 4;

// Bytes at each place of a line.
class Bins {
 public:
  explicit Bins(Interval range)
      : range_(range), bytes_(static_cast<size_t>(std::min(kBins, range.length())), 0) {}

  [[nodiscard]] int64_t count() const { return std::ssize(bytes_); }
  [[nodiscard]] Interval place(int64_t bin) const { return part_of(range_, bin, count()); }
  [[nodiscard]] int64_t bytes(int64_t bin) const { return bytes_[static_cast<size_t>(bin)]; }
  void add_to(int64_t bin, int64_t bytes) { bytes_[static_cast<size_t>(bin)] += bytes; }

  void add(Interval bytes) {
    for_each_bin(bytes, [&](int64_t bin, Interval here) { add_to(bin, here.length()); });
  }
  // One that does not ascend counts as if it were even over its span.
  void add(const pattern::Pattern& bytes) {
    const Interval span = bytes.span();
    const double share = static_cast<double>(bytes.size()) / static_cast<double>(span.length());
    for_each_bin(span, [&](int64_t bin, Interval here) {
      const auto even = static_cast<int64_t>(share * static_cast<double>(here.length()));
      add_to(bin, here == span        ? bytes.size()
                  : bytes.ascending() ? bytes.within(here).size()
                                      : even);
    });
  }

 private:
  template <typename Visit>
  void for_each_bin(Interval bytes, const Visit& visit) {
    const Interval inside = pattern::common(bytes, range_);
    if (inside.length() <= 0) return;
    for (int64_t bin = bin_of(inside.begin); bin < count(); ++bin) {
      const Interval here = pattern::common(inside, place(bin));
      if (here.length() <= 0) break;
      visit(bin, here);
    }
  }
  // By search: places are even but for one byte.
  [[nodiscard]] int64_t bin_of(int64_t byte) const {
    int64_t low = 0;
    for (int64_t high = count(); high - low > 1;) {
      const int64_t middle = low + (high - low) / 2;
      (place(middle).begin <= byte ? low : high) = middle;
    }
    return low;
  }

  Interval range_;
  std::vector<int64_t> bytes_;
};

struct PictureRow {
  std::string name;
  std::string colour;
  Bins bins;
};

// Rows of the writers, and which of them a process has.
struct WriterRows {
  std::vector<PictureRow> rows;
  std::map<int32_t, size_t> row_of;

  [[nodiscard]] Bins& bins(int32_t process) { return rows[row_of.at(process)].bins; }
};

WriterRows rows_of(const ObjectFileFacts& facts, Interval range) {
  WriterRows result;
  for (const WriterFacts& writer : facts.writers) {
    const size_t row = std::min(result.row_of.size(), kPictureRows);
    result.row_of[writer.process] = row;
    if (row < result.rows.size()) continue;
    result.rows.push_back({row < kPictureRows ? process_name(writer.process) : "all others",
                           process_colour(static_cast<int64_t>(row)), Bins(range)});
  }
  return result;
}

int shade(const Bins& bins, int64_t bin) {
  const int64_t bytes = bins.bytes(bin);
  if (bytes == 0) return 0;
  const double share = static_cast<double>(bytes) / static_cast<double>(bins.place(bin).length());
  return std::clamp(static_cast<int>(std::lround(share * kShades)), 1, kShades);
}

// Neighbours of one shade are one shape.
void draw_row(Svg& svg, const Ruler& ruler, const PictureRow& row, double y) {
  svg.text({kLeft - 10, y + 15}, row.name, "end");
  svg.line({kLeft, y + kRow / 2}, {kLineWidth - 12, y + kRow / 2}, "rule");
  for (int64_t begin = 0; begin < row.bins.count();) {
    const int dark = shade(row.bins, begin);
    int64_t end = begin;
    int64_t bytes = 0;
    for (; end < row.bins.count() && shade(row.bins, end) == dark; ++end) {
      bytes += row.bins.bytes(end);
    }
    const Interval place = {row.bins.place(begin).begin, row.bins.place(end - 1).end};
    begin = end;
    if (dark == 0) continue;
    svg.begin_hot(fmt::format("{}: {} of the {} bytes in {}", row.name, with_commas(bytes),
                              with_commas(place.length()), interval_text(place)));
    svg.rect(
        ruler.box(place, y + 3, kRow - 6), "",
        fmt::format("fill:{};opacity:{:.2f}", row.colour, static_cast<double>(dark) / kShades));
    svg.end_hot();
  }
}

std::string picture(Interval range, const std::vector<PictureRow>& rows, const char* label) {
  const double bottom = 8 + kRow * static_cast<double>(rows.size());
  Svg svg(kLineWidth, bottom + 28, label);
  const Ruler ruler{range, kLeft};
  for (size_t i = 0; i < rows.size(); ++i) {
    draw_row(svg, ruler, rows[i], 8 + kRow * static_cast<double>(i));
  }
  svg.line({kLeft, bottom}, {kLineWidth - 12, bottom}, "frame");
  draw_ticks(svg, ruler, quarters_of(range), bottom + 20);
  return svg.finish();
}

// What a place of an allocation is in the container, for all pieces.
void add_places(const Contents& contents, const map::Piece& piece, WriterRows& writers,
                Bins& live) {
  const container::Allocation& allocation = *contents.find(piece.allocation);
  const auto places = pattern::side(piece.pairs, 1).shifted({{allocation.place.begin}});
  if (!places) return;
  writers.bins(allocation.manager).add(*places);
  live.add(*places);
}

}  // namespace

std::string file_order_picture(const ObjectFileFacts& facts, const Contents& contents) {
  const Interval range = {0, std::max<int64_t>(1, facts.superblock.logical_size)};
  WriterRows writers = rows_of(facts, range);
  contents.map.for_each([&](const map::Piece& piece) {
    writers.bins(contents.find(piece.allocation)->manager).add(pattern::side(piece.pairs, 0));
  });
  return picture(range, writers.rows, "Whose bytes lie where in the file");
}

std::string container_order_picture(const ObjectFileFacts& facts, const Contents& contents) {
  const container::Superblock& root = facts.superblock;
  const Interval range = {0, std::max(root.end, facts.container_bytes)};
  WriterRows writers = rows_of(facts, range);
  Bins live(range);
  const auto add = [&](const map::Piece& piece) { add_places(contents, piece, writers, live); };
  contents.map.for_each(add);
  contents.map.for_each_replica(add);
  PictureRow dead{"not visible", "var(--soft)", Bins(range)};
  for (const container::Allocation& allocation : contents.allocations) {
    dead.bins.add(allocation.place);
  }
  for (int64_t bin = 0; bin < live.count(); ++bin) {
    dead.bins.add_to(bin, -std::min(live.bytes(bin), dead.bins.bytes(bin)));
  }
  PictureRow own{"map and roots", "var(--ink)", Bins(range)};
  own.bins.add(Interval{0, container::header_end(root.block_bytes, root.version)});
  own.bins.add(root.blob);
  std::vector<PictureRow> rows = std::move(writers.rows);
  rows.push_back(std::move(dead));
  rows.push_back(std::move(own));
  return picture(range, rows, "Whose bytes lie where in the container");
}

}  // namespace tessera::cli
