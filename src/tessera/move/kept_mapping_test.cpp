#include "tessera/move/kept_mapping.hpp"

#include <gtest/gtest.h>

#include "tessera/port/test_directory.hpp"

namespace tessera::move {
namespace {

using port::Access;

class KeptMappingTest : public ::testing::Test {
 protected:
  [[nodiscard]] KeptMapping::Mapping map(Interval part, Access access) const {
    return std::make_unique<port::FileMapping>(
        port::FileMapping::map(*file_, part.begin, part.end, access).value());
  }

  const port::TestDirectory directory_;
  const std::unique_ptr<port::PlainFile> file_ =
      port::PlainFile::open(directory_.path("kept"), {.read = true, .write = true, .create = true})
          .value();
  KeptMapping kept_;
};

TEST_F(KeptMappingTest, IsGivenToWhomItHoldsEnough) {
  EXPECT_FALSE(kept_.take({0, 1}, Access::kRead));
  kept_.keep(map({4096, 16384}, Access::kRead));
  EXPECT_FALSE(kept_.holds({4095, 5000}, Access::kRead));
  EXPECT_FALSE(kept_.holds({5000, 16385}, Access::kRead));
  EXPECT_FALSE(kept_.holds({5000, 6000}, Access::kReadWrite));
  EXPECT_FALSE(kept_.take({5000, 6000}, Access::kReadWrite));
  EXPECT_TRUE(kept_.holds({4096, 16384}, Access::kRead));
  const auto taken = kept_.take({4096, 16384}, Access::kRead);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->begin(), 4096);
  EXPECT_EQ(taken->end(), 16384);
}

TEST_F(KeptMappingTest, IsUsedByOneAtATime) {
  kept_.keep(map({0, 4096}, Access::kReadWrite));
  auto first = kept_.take({0, 4096}, Access::kRead);
  EXPECT_TRUE(first);
  EXPECT_FALSE(kept_.take({0, 4096}, Access::kRead));
  kept_.keep(std::move(first));
  EXPECT_TRUE(kept_.take({0, 4096}, Access::kReadWrite));
}

TEST_F(KeptMappingTest, TheLastOneStays) {
  kept_.keep(map({0, 4096}, Access::kRead));
  kept_.keep(map({8192, 12288}, Access::kRead));
  EXPECT_FALSE(kept_.holds({0, 1}, Access::kRead));
  EXPECT_TRUE(kept_.holds({8192, 8193}, Access::kRead));
}

}  // namespace
}  // namespace tessera::move
