#include "tessera/cli/numbers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tessera::cli {
namespace {

TEST(Numbers, AreGroupedByThousands) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(with_commas(-100), "-100");
  EXPECT_EQ(with_commas(std::numeric_limits<int64_t>::max()), "9,223,372,036,854,775,807");
}

TEST(Numbers, HaveThreeDigitsAndAUnit) {
  EXPECT_EQ(size_text(180), "180 B");
  EXPECT_EQ(size_text(9999), "9,999 B");
  EXPECT_EQ(size_text(10240), "10.0 KiB");
  EXPECT_EQ(size_text(1010808000), "964 MiB");
  EXPECT_EQ(size_text(1'047'552), "1.00 MiB") << "never four digits";
  EXPECT_EQ(size_text(std::numeric_limits<int64_t>::max()), "8.00 EiB");
  EXPECT_EQ(duration_text(12), "12.0 ns");
  EXPECT_EQ(duration_text(4.21e6), "4.21 ms");
  EXPECT_EQ(duration_text(9.996e5), "1.00 ms");
  EXPECT_EQ(duration_text(5e12), "5000 s");
}

TEST(Numbers, CountAndCompare) {
  EXPECT_EQ(counted(1, "family"), "1 family");
  EXPECT_EQ(counted(361, "family"), "361 families");
  EXPECT_EQ(counted(1200, "object"), "1,200 objects");
  EXPECT_EQ(percent(1, 8), "12.5%");
  EXPECT_EQ(percent(0, 0), "0%");
  EXPECT_EQ(interval_text({15, 30}), "[15, 30)");
}

}  // namespace
}  // namespace tessera::cli
