#include "tessera/move/islands.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tessera/pattern/model_test_support.hpp"

namespace tessera::move {
namespace {

using pattern::Interval;
using pattern::Pattern;
using pattern::model::uniform;

std::vector<Island> islands_of(const Pattern& file, const IslandLimits& limits) {
  std::vector<Island> islands;
  IslandWalk walk(file, limits);
  for (Island island; walk.next(island);) islands.push_back(island);
  return islands;
}

// The islands hold the stream in order, begin and end with wanted bytes, and keep the limits.
void check_islands(const Pattern& file, const IslandLimits& limits) {
  const auto positions = pattern::model::positions(file);
  int64_t stream = 0;
  for (const Island& island : islands_of(file, limits)) {
    ASSERT_EQ(island.stream.begin, stream);
    ASSERT_GT(island.stream.length(), 0);
    stream = island.stream.end;
    ASSERT_EQ(positions[static_cast<size_t>(island.stream.begin)][0], island.file.begin);
    ASSERT_EQ(positions[static_cast<size_t>(stream - 1)][0] + 1, island.file.end);
    ASSERT_LE(island.file.length(), limits.length_max);
    for (int64_t i = island.stream.begin + 1; i < stream; ++i) {
      const auto at = static_cast<size_t>(i);
      ASSERT_LE(positions[at][0] - positions[at - 1][0] - 1, limits.gap_max);
    }
  }
  ASSERT_EQ(stream, file.size());
}

TEST(Islands, HoldTheStreamWithinTheLimits) {
  pattern::model::Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(3000) && !testing::Test::HasFailure();
       ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    const Pattern file = pattern::model::random_set(engine).ascending();
    const int64_t at = uniform(engine, 4000, 4100);
    check_islands(file.shifted({{at}}).value(), {uniform(engine, 0, 8), uniform(engine, 1, 50)});
  }
}

// An island ends only where a limit says so.
TEST(Islands, AreAsLongAsTheLimitsAllow) {
  pattern::model::Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(3000); ++round) {
    const Pattern file = pattern::model::random_set(engine).ascending();
    const IslandLimits limits = {uniform(engine, 0, 8), 1 << 20};
    const auto islands = islands_of(file.shifted({{100}}).value(), limits);
    for (size_t i = 1; i < islands.size(); ++i) {
      ASSERT_GT(islands[i].file.begin - islands[i - 1].file.end, limits.gap_max)
          << pattern::model::seed_note(round);
    }
  }
}

TEST(Islands, AreCutAtPages) {
  const auto islands = islands_of(Pattern::run({{100}}, 20'000).value(), {0, 8192});
  ASSERT_EQ(islands.size(), 3U);
  EXPECT_EQ(islands[0].file, (Interval{100, 8192}));
  EXPECT_EQ(islands[1].file, (Interval{8192, 16'384}));
  EXPECT_EQ(islands[2].file, (Interval{16'384, 20'100}));
}

TEST(Islands, OfRegularPatternsCostLittle) {
  const Pattern run = Pattern::run({{0}}, 8).value();
  const Pattern file = pattern::repeat(run, int64_t{1} << 40, {{64}}).value();
  IslandWalk walk(file, {56, int64_t{1} << 60});
  Island island;
  ASSERT_TRUE(walk.next(island));
  EXPECT_EQ(island.stream.end, int64_t{1} << 43);
  EXPECT_FALSE(walk.next(island));
}

}  // namespace
}  // namespace tessera::move
