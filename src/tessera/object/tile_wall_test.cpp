#include "tessera/object/tile_wall.hpp"

#include <gtest/gtest.h>

namespace tessera::object {
namespace {

// Whether a reader's tile holds the pixel that begins at a byte.
bool shows(const Wall& wall, int64_t reader, int64_t byte) {
  const Tile tile = wall.tile(reader);
  const int64_t x = byte / wall.pixel_bytes % wall.width();
  const int64_t y = byte / wall.pixel_bytes / wall.width();
  return tile.x.begin <= x && x < tile.x.end && tile.y.begin <= y && y < tile.y.end;
}

TEST(Wall, HasThePapersDimensions) {
  EXPECT_EQ(kPaperExample.width(), 60);
  EXPECT_EQ(kPaperExample.height(), 3);
  EXPECT_EQ(kPaperWall.width(), 16680);
  EXPECT_EQ(kPaperWall.height(), 15150);
  EXPECT_EQ(kPaperWall.file_bytes(), 1'010'808'000);
  EXPECT_EQ(reader_view(kPaperWall, 99).size(), 1920 * 1650 * 4);
  EXPECT_EQ(reader_view(kPaperWall, 99).span().end, kPaperWall.file_bytes());
}

TEST(Wall, ReadersSeeTheirTilesAndNothingElse) {
  const Wall wall{3, 2, 5, 4, 2, 1, 3};
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    const auto view = reader_view(wall, reader);
    for (int64_t byte = 0; byte < wall.file_bytes(); ++byte) {
      ASSERT_EQ(view.contains(byte), shows(wall, reader, byte)) << reader << " at " << byte;
    }
  }
}

TEST(Wall, WritersCoverTheImageOnceInWholeRows) {
  for (const int64_t writers : {1, 3, 7, 100}) {
    int64_t end = 0;
    for (int64_t writer = 0; writer < writers; ++writer) {
      const auto view = writer_view(kPaperWall, writer, writers);
      EXPECT_EQ(view.span().begin, end);
      EXPECT_EQ(view.span().begin % kPaperWall.row_bytes(), 0);
      end = view.span().end;
    }
    EXPECT_EQ(end, kPaperWall.file_bytes());
  }
}

}  // namespace
}  // namespace tessera::object
