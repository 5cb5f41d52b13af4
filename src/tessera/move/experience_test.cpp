#include "tessera/move/experience.hpp"

#include <gtest/gtest.h>

namespace tessera::move {
namespace {

TEST(Experience, OnlyTheLastShapeOfADirectionCounts) {
  Experience experience;
  const Experience::Shape columns = {.bytes = 800, .runs = 100, .grows = false};
  EXPECT_FALSE(experience.went_apart(Direction::kWrite, columns));
  experience.note_way(Direction::kWrite, columns, true);
  EXPECT_TRUE(experience.went_apart(Direction::kWrite, columns));
  EXPECT_FALSE(experience.went_apart(Direction::kRead, columns));
  EXPECT_FALSE(experience.went_apart(Direction::kWrite, {.bytes = 800, .runs = 99}));
  EXPECT_FALSE(
      experience.went_apart(Direction::kWrite, {.bytes = 800, .runs = 100, .grows = true}));
  experience.note_way(Direction::kWrite, columns, false);
  EXPECT_FALSE(experience.went_apart(Direction::kWrite, columns));
}

}  // namespace
}  // namespace tessera::move
