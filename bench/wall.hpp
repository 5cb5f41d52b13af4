// The tile wall of paper 0: 10 x 10 displays that overlap, each read by one process.
//
// Section IV of the paper: a tile is 1920 x 1650 pixels of 4 bytes, neighbours overlap by 280
// pixels in x and 150 in y; the file holds the whole picture row by row. Thread safety: pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::bench {

struct Wall {
  int64_t across = 10;
  int64_t down = 10;
  int64_t tile_width = 1920;
  int64_t tile_height = 1650;
  int64_t overlap_x = 280;
  int64_t overlap_y = 150;
  int64_t pixel_bytes = 4;

  [[nodiscard]] int64_t width() const { return across * (tile_width - overlap_x) + overlap_x; }
  [[nodiscard]] int64_t height() const { return down * (tile_height - overlap_y) + overlap_y; }
  [[nodiscard]] int64_t row_bytes() const { return width() * pixel_bytes; }
  [[nodiscard]] int64_t size_bytes() const { return row_bytes() * height(); }
};

// The bytes of the tile in the given column and row of the wall, as an MPI subarray has them.
[[nodiscard]] base::Result<pattern::Pattern> tile_pattern(const Wall& wall, int64_t column,
                                                          int64_t row);

// The views of all readers, row by row.
[[nodiscard]] base::Result<std::vector<pattern::ByteSet>> reader_views(const Wall& wall);

}  // namespace tessera::bench
