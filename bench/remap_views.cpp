#include "bench/remap_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tessera/base/assert.hpp"

namespace tessera::bench {

namespace {

constexpr int64_t kRecordBytes = 4096;
constexpr int64_t kRunBytesMax = 65536;
constexpr int64_t kOverlapPart = 16;

struct Span {
  int64_t begin = 0;
  int64_t end = 0;
};

// One of `parts` of a side, with a bit of its neighbours where they overlap.
Span part_of(int64_t side, int64_t part, int64_t parts, bool overlapping) {
  const int64_t more = overlapping ? side / parts / kOverlapPart : 0;
  return {std::max<int64_t>(0, side * part / parts - more),
          std::min(side, side * (part + 1) / parts + more)};
}

struct Image {
  int64_t rows = 0;
  int64_t row_bytes = 0;
};

std::string rectangle(Image image, Span y, Span x) {
  return fmt::format(
      R"({{"type":{{"subarray":{{"sizes":[{},{}],"subsizes":[{},{}],"starts":[{},{}]}}}}}})",
      image.rows, image.row_bytes, y.end - y.begin, x.end - x.begin, y.begin, x.begin);
}

std::string grid_view(int64_t side, int64_t process, int64_t processes, bool overlapping) {
  int64_t columns = 1;
  while (columns * columns < processes) ++columns;
  TESSERA_ASSERT(columns * columns == processes);
  return rectangle({side, side}, part_of(side, process / columns, columns, overlapping),
                   part_of(side, process % columns, columns, overlapping));
}

std::string cyclic_view(int64_t process, int64_t processes) {
  return fmt::format(
      R"({{"displacement":{},"tiles":"all","type":{{"resized":{{"extent":{},"of":{}}}}}}})",
      process * kRecordBytes, processes * kRecordBytes, kRecordBytes);
}

// The runs of all processes follow each other without gaps.
std::vector<std::string> irregular_views(int64_t processes, int64_t bytes) {
  std::mt19937_64 random(11);
  std::vector<std::string> lists(static_cast<size_t>(processes));
  int64_t begin = 0;
  for (size_t turn = 0; begin < bytes; turn = (turn + 1) % lists.size()) {
    const auto length = static_cast<int64_t>(random() % kRunBytesMax) + 1;
    const int64_t end = std::min(bytes, begin + length);
    lists[turn] += fmt::format("{}[{},{}]", lists[turn].empty() ? "" : ",", begin, end);
    begin = end;
  }
  for (std::string& list : lists) list = fmt::format(R"({{"type":{{"intervals":[{}]}}}})", list);
  return lists;
}

std::string view_of(Shape shape, int64_t process, int64_t processes, int64_t side) {
  const Span part = part_of(side, process, processes, overlaps(shape));
  switch (shape) {
    case Shape::kRows:
    case Shape::kOverlappingRows:
      return rectangle({side, side}, part, {0, side});
    case Shape::kColumns:
      return rectangle({side, side}, {0, side}, part);
    case Shape::kBlocks:
    case Shape::kOverlappingBlocks:
      return grid_view(side, process, processes, overlaps(shape));
    case Shape::kCyclic:
      return cyclic_view(process, processes);
    case Shape::kIrregular:
      break;
  }
  TESSERA_ASSERT(false);
  return {};
}

}  // namespace

const char* name_of(Shape shape) {
  switch (shape) {
    case Shape::kRows:
      return "rows";
    case Shape::kColumns:
      return "columns";
    case Shape::kBlocks:
      return "blocks";
    case Shape::kCyclic:
      return "cyclic";
    case Shape::kIrregular:
      return "irregular";
    case Shape::kOverlappingRows:
      return "overlapping rows";
    case Shape::kOverlappingBlocks:
      return "overlapping blocks";
  }
  return "";
}

bool overlaps(Shape shape) {
  return shape == Shape::kOverlappingRows || shape == Shape::kOverlappingBlocks;
}

std::string views_text(Shape shape, int64_t processes, int64_t side) {
  std::vector<std::string> views;
  if (shape == Shape::kIrregular) views = irregular_views(processes, side * side);
  for (int64_t process = std::ssize(views); process < processes; ++process) {
    views.push_back(view_of(shape, process, processes, side));
  }
  return fmt::format(R"({{"size":{},"disjoint":{},"views":[{}]}})", side * side, !overlaps(shape),
                     fmt::join(views, ","));
}

std::string views_text(const object::Wall& wall) {
  std::vector<std::string> views;
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    const object::Tile tile = wall.tile(reader);
    views.push_back(rectangle({wall.height(), wall.row_bytes()}, {tile.y.begin, tile.y.end},
                              {tile.x.begin * wall.pixel_bytes, tile.x.end * wall.pixel_bytes}));
  }
  return fmt::format(R"({{"size":{},"views":[{}]}})", wall.file_bytes(), fmt::join(views, ","));
}

}  // namespace tessera::bench
