#include "tessera/move/segments.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tessera/move/test_moves.hpp"

namespace tessera::move {
namespace {

using pattern::model::uniform;

using Positions = pattern::model::Positions<1>;

// The pairs of positions that two patterns name, and how far they have been seen.
struct Expected {
  Positions files;
  Positions memories;
  size_t stream = 0;

  [[nodiscard]] bool continues() const {
    return stream < files.size() && files[stream][0] == files[stream - 1][0] + 1 &&
           memories[stream][0] == memories[stream - 1][0] + 1;
  }
};

// The segment names the next pairs and is as long as it can be, unless `cut`.
void check_segment(const Segment& segment, bool cut, Expected& expected) {
  ASSERT_GT(segment.length, 0);
  for (int64_t i = 0; i < segment.length; ++i, ++expected.stream) {
    ASSERT_EQ(segment.file + i, expected.files.at(expected.stream)[0]);
    ASSERT_EQ(segment.memory + i, expected.memories.at(expected.stream)[0]);
  }
  ASSERT_TRUE(cut || !expected.continues());
}

void check_batch(std::span<const Segment> segments, int64_t bytes_max, Expected& expected) {
  int64_t bytes = 0;
  for (const Segment& segment : segments) {
    bytes += segment.length;
    ASSERT_NO_FATAL_FAILURE(check_segment(segment, bytes == bytes_max, expected));
  }
  ASSERT_LE(bytes, bytes_max);
}

TEST(Segments, PairTheBytesOfBothPatterns) {
  model::Chance chance(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(3000); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    const model::Case test = model::random_case(chance, Direction::kWrite, 256);
    Expected expected{pattern::model::positions(test.move.file),
                      pattern::model::positions(test.move.memory)};
    std::vector<Segment> room(static_cast<size_t>(uniform(chance, 1, 20)));
    const int64_t bytes_max = uniform(chance, 1, 60);
    SegmentWalk walk(test.move.file, test.move.memory);
    while (const size_t count = walk.next(room, bytes_max)) {
      ASSERT_NO_FATAL_FAILURE(check_batch(std::span(room).first(count), bytes_max, expected));
    }
    ASSERT_EQ(expected.stream, expected.files.size());
  }
}

}  // namespace
}  // namespace tessera::move
