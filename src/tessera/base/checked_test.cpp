#include "tessera/base/checked.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tessera::base {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Checked, SumsThatDoNotFitAreEmpty) {
  EXPECT_EQ(checked_add(kMax - 1, 1), kMax);
  EXPECT_EQ(checked_add(kMax, 1), std::nullopt);
  EXPECT_EQ(checked_sub(kMin + 1, 1), kMin);
  EXPECT_EQ(checked_sub(kMin, 1), std::nullopt);
  EXPECT_EQ(checked_sub(0, kMin), std::nullopt);
}

TEST(Checked, ProductsThatDoNotFitAreEmpty) {
  EXPECT_EQ(checked_mul(kMax, 1), kMax);
  EXPECT_EQ(checked_mul(kMax / 2, 3), std::nullopt);
  EXPECT_EQ(checked_mul(kMin, -1), std::nullopt);
}

TEST(Checked, LeastCommonMultiple) {
  EXPECT_EQ(checked_lcm(6, 4), 12);
  EXPECT_EQ(checked_lcm(kMax, kMax), kMax);
  EXPECT_EQ(checked_lcm(kMax, kMax - 1), std::nullopt);
}

TEST(Checked, DivisionRoundsInItsStatedDirection) {
  for (int64_t a = -12; a <= 12; ++a) {
    for (int64_t b = 1; b <= 5; ++b) {
      const int64_t floor = floor_div(a, b);
      const int64_t ceil = ceil_div(a, b);
      EXPECT_TRUE(floor * b <= a && a < (floor + 1) * b) << a << "/" << b;
      EXPECT_TRUE((ceil - 1) * b < a && a <= ceil * b) << a << "/" << b;
    }
  }
}

TEST(CheckedDeathTest, ExactCastStopsOnWhatDoesNotFit) {
  EXPECT_EQ(exact_cast<uint8_t>(255), 255);
  EXPECT_DEATH(static_cast<void>(exact_cast<uint8_t>(256)), "assertion failed");
  EXPECT_DEATH(static_cast<void>(exact_cast<uint32_t>(-1)), "assertion failed");
}

}  // namespace
}  // namespace tessera::base
