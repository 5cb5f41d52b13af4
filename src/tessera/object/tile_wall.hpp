// A wall of screens: the tile-reader example of paper 0 (sections III.G and IV).
//
// An image lies in a file row by row. Readers each show one tile of it; neighbouring tiles overlap,
// so that the screens blend. Writers store the image in blocks of whole rows. The demo, the
// benchmarks and the tests all take their views from here.
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/pattern/byte_set.hpp"

namespace tessera::object {

// A rectangle of pixels, half-open in both directions.
struct Tile {
  pattern::Interval x;
  pattern::Interval y;
};

struct Wall {
  int64_t columns = 1;  // screens side by side
  int64_t rows = 1;     // screens on top of each other
  int64_t tile_width = 1;
  int64_t tile_height = 1;
  int64_t overlap_width = 0;
  int64_t overlap_height = 0;
  int64_t pixel_bytes = 1;

  [[nodiscard]] int64_t step_x() const { return tile_width - overlap_width; }
  [[nodiscard]] int64_t step_y() const { return tile_height - overlap_height; }
  [[nodiscard]] int64_t width() const {
    return columns * tile_width - (columns - 1) * overlap_width;
  }
  [[nodiscard]] int64_t height() const { return rows * tile_height - (rows - 1) * overlap_height; }
  [[nodiscard]] int64_t row_bytes() const { return width() * pixel_bytes; }
  [[nodiscard]] int64_t file_bytes() const { return row_bytes() * height(); }
  [[nodiscard]] int64_t readers() const { return columns * rows; }
  // The tile of a reader; readers are numbered by rows of screens.
  [[nodiscard]] Tile tile(int64_t reader) const;
  // The byte of the file at which a pixel begins.
  [[nodiscard]] int64_t byte_of(int64_t x, int64_t y) const {
    return (y * width() + x) * pixel_bytes;
  }
};

// Figures 4 to 8: 60x3 pixels of one byte, four readers.
inline constexpr Wall kPaperExample{2, 2, 40, 2, 20, 1, 1};
// Section IV: 1920x1650 tiles of four-byte pixels that overlap by 280x150, on a 10x10 wall.
inline constexpr Wall kPaperWall{10, 10, 1920, 1650, 280, 150, 4};

// The bytes of one reader's tile. Requires the wall's file to fit in the bounds of positions.
[[nodiscard]] pattern::ByteSet reader_view(const Wall& wall, int64_t reader);
// The bytes of one of `writers` blocks of rows, as even as whole rows can be.
[[nodiscard]] pattern::ByteSet writer_view(const Wall& wall, int64_t writer, int64_t writers);
// The views of all readers, in order.
[[nodiscard]] std::vector<pattern::ByteSet> reader_views(const Wall& wall);

}  // namespace tessera::object
