#include "tessera/move/amounts.hpp"

#include <gtest/gtest.h>

namespace tessera::move {
namespace {

TEST(Amounts, HaveTheUnitThatFits) {
  EXPECT_EQ(bytes_text(8), "8 bytes");
  EXPECT_EQ(bytes_text(7680), "7.5 KiB");
  EXPECT_EQ(bytes_text(4.2e6), "4.0 MiB");
  EXPECT_EQ(bytes_text(3e9), "2.8 GiB");
  EXPECT_EQ(time_text(1500), "2 us");
  EXPECT_EQ(time_text(3.14e6), "3.1 ms");
  EXPECT_EQ(time_text(2e9), "2.0 s");
  EXPECT_EQ(percent_text(0.25), "25 %");
}

}  // namespace
}  // namespace tessera::move
