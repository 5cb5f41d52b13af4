#include "tessera/move/large_pages.hpp"

#include <gtest/gtest.h>

namespace tessera::move {
namespace {

using pattern::Interval;

TEST(LargePages, AreMappedWhole) {
  EXPECT_EQ(large_pages_around({0, 1}), (Interval{0, kLargePageBytes}));
  EXPECT_EQ(large_pages_around({kLargePageBytes, 2 * kLargePageBytes}),
            (Interval{kLargePageBytes, 2 * kLargePageBytes}));
  EXPECT_EQ(large_pages_around({kLargePageBytes - 1, kLargePageBytes + 1}),
            (Interval{0, 2 * kLargePageBytes}));
}

}  // namespace
}  // namespace tessera::move
