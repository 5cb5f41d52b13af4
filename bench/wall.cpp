#include "bench/wall.hpp"

#include <array>

#include "tessera/pattern/datatype.hpp"

namespace tessera::bench {

base::Result<pattern::Pattern> tile_pattern(const Wall& wall, int64_t column, int64_t row) {
  TESSERA_TRY(const auto pixel, pattern::basic(wall.pixel_bytes, wall.pixel_bytes));
  const std::array<pattern::Slice, 2> slices = {{
      {wall.height(), wall.tile_height, row * (wall.tile_height - wall.overlap_y)},
      {wall.width(), wall.tile_width, column * (wall.tile_width - wall.overlap_x)},
  }};
  TESSERA_TRY(const auto type, pattern::subarray(slices, pattern::Order::kC, pixel));
  return type.bytes;
}

base::Result<std::vector<pattern::ByteSet>> reader_views(const Wall& wall) {
  std::vector<pattern::ByteSet> views;
  for (int64_t row = 0; row < wall.down; ++row) {
    for (int64_t column = 0; column < wall.across; ++column) {
      TESSERA_TRY(const auto tile, tile_pattern(wall, column, row));
      TESSERA_TRY(auto view, pattern::ByteSet::of(tile));
      views.push_back(std::move(view));
    }
  }
  return views;
}

}  // namespace tessera::bench
