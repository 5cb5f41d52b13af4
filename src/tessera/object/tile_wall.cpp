#include "tessera/object/tile_wall.hpp"

#include "tessera/base/assert.hpp"

namespace tessera::object {

using pattern::ByteSet;
using pattern::Pattern;
using pattern::Point;

Tile Wall::tile(int64_t reader) const {
  const int64_t x = reader % columns * step_x();
  const int64_t y = reader / columns * step_y();
  return {{x, x + tile_width}, {y, y + tile_height}};
}

ByteSet reader_view(const Wall& wall, int64_t reader) {
  TESSERA_ASSERT(0 <= reader && reader < wall.readers());
  const Tile tile = wall.tile(reader);
  const Point<1> first{{wall.byte_of(tile.x.begin, tile.y.begin)}};
  const Pattern row = Pattern::run(first, tile.x.length() * wall.pixel_bytes).value();
  const Point<1> stride{{wall.row_bytes()}};
  return ByteSet::of_ascending(pattern::repeat(row, tile.y.length(), stride).value());
}

ByteSet writer_view(const Wall& wall, int64_t writer, int64_t writers) {
  TESSERA_ASSERT(0 <= writer && writer < writers && writers <= wall.height());
  const int64_t begin = wall.height() * writer / writers;
  const int64_t end = wall.height() * (writer + 1) / writers;
  return ByteSet::of({wall.byte_of(0, begin), wall.byte_of(0, end)}).value();
}

std::vector<ByteSet> reader_views(const Wall& wall) {
  std::vector<ByteSet> views;
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    views.push_back(reader_view(wall, reader));
  }
  return views;
}

}  // namespace tessera::object
