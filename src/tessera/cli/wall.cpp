#include "tessera/cli/wall.hpp"

#include <fmt/core.h>

#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::cli {

using base::Result;
using pattern::ByteSet;
using pattern::Pattern;
using pattern::Point;

namespace {

void add_view(Shown& shown, int64_t process, std::string name) {
  shown.names[base::exact_cast<object::Process>(process)] = std::move(name);
}

}  // namespace

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

Result<Shown> reader_objects(const Wall& wall) {
  Shown shown{"tile readers", object::ObjectSet({0, wall.file_bytes()}), {}};
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    add_view(shown, reader, fmt::format("TR{}", reader));
    TESSERA_TRY_VOID(
        shown.objects.add(base::exact_cast<object::Process>(reader), reader_view(wall, reader)));
  }
  return shown;
}

Result<Shown> writer_objects(const Wall& wall, int64_t writers) {
  Shown shown{"tile writers", object::ObjectSet({0, wall.file_bytes()}), {}};
  for (int64_t writer = 0; writer < writers; ++writer) {
    add_view(shown, writer, fmt::format("TW{}", writer));
    TESSERA_TRY_VOID(shown.objects.add(base::exact_cast<object::Process>(writer),
                                       writer_view(wall, writer, writers)));
  }
  return shown;
}

}  // namespace tessera::cli
