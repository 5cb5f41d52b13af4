#include "tessera/move/segments.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tessera/move/test_moves.hpp"

namespace tessera::move {
namespace {

using pattern::model::uniform;

// Segments name the same pairs of positions as the two patterns, in order, and are as long as both
// allow, but for those cut by bytes_max.
TEST(Segments, PairTheBytesOfBothPatterns) {
  model::Chance chance(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(3000); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    const model::Case test = model::random_case(chance, Direction::kWrite, 256);
    const auto files = pattern::model::positions(test.move.file);
    const auto memories = pattern::model::positions(test.move.memory);
    std::vector<Segment> room(static_cast<size_t>(uniform(chance, 1, 20)));
    const int64_t bytes_max = uniform(chance, 1, 60);
    SegmentWalk walk(test.move.file, test.move.memory);
    size_t stream = 0;
    for (size_t count = walk.next(room, bytes_max); count > 0; count = walk.next(room, bytes_max)) {
      int64_t bytes = 0;
      for (const Segment& segment : std::span(room).first(count)) {
        bytes += segment.length;
        ASSERT_GT(segment.length, 0);
        for (int64_t i = 0; i < segment.length; ++i, ++stream) {
          ASSERT_EQ(segment.file + i, files.at(stream)[0]);
          ASSERT_EQ(segment.memory + i, memories.at(stream)[0]);
        }
        const bool joined = stream < files.size() && files[stream][0] == files[stream - 1][0] + 1 &&
                            memories[stream][0] == memories[stream - 1][0] + 1;
        ASSERT_TRUE(!joined || bytes == bytes_max);
      }
      ASSERT_LE(bytes, bytes_max);
    }
    ASSERT_EQ(stream, files.size());
  }
}

}  // namespace
}  // namespace tessera::move
