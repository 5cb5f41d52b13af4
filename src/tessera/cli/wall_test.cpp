#include "tessera/cli/wall.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tessera/cli/translation.hpp"

namespace tessera::cli {
namespace {

using pattern::Interval;

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

TEST(Translation, FindsWhatThePaperFinds) {
  const auto writers = writer_objects(kPaperExample, 3);
  const auto readers = reader_objects(kPaperExample);
  ASSERT_TRUE(writers && readers);
  const auto lookups = look_up(writers->objects, readers->objects);
  ASSERT_EQ(lookups.size(), 3U);
  EXPECT_EQ(lookups[0].written.bytes, (Interval{0, 60}));
  EXPECT_EQ(lookups[0].met, (std::vector<int64_t>{0, 1, 2})) << "objects 0, 1, and 2 are returned";
  EXPECT_EQ(lookups[1].met, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(lookups[2].met, (std::vector<int64_t>{6, 7, 8}));
}

TEST(Translation, GivesEveryReaderOneRun) {
  const auto readers = reader_objects(kPaperExample);
  ASSERT_TRUE(readers);
  const auto layout = replicated_layout(readers->objects);
  ASSERT_EQ(layout.size(), 4U);
  for (size_t i = 0; i < layout.size(); ++i) {
    const auto begin = static_cast<int64_t>(i) * 80;
    EXPECT_EQ(layout[i].at, (Interval{begin, begin + 80}));
    ASSERT_EQ(layout[i].copies.size(), 4U);
    EXPECT_EQ(layout[i].copies.front().at.begin, begin);
    EXPECT_EQ(layout[i].copies.back().at.end, begin + 80);
  }
  EXPECT_EQ(layout[3].copies[0].object, 4);
}

}  // namespace
}  // namespace tessera::cli
