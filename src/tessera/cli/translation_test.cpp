#include "tessera/cli/translation.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tessera/cli/wall.hpp"

namespace tessera::cli {
namespace {

using pattern::Interval;

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
