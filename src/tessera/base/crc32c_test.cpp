#include "tessera/base/crc32c.hpp"

#include <gtest/gtest.h>

namespace tessera::base {
namespace {

// The check values that the standards give.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(bytes_of("")), 0U);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0})), 0x8A9136AAU);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0xff})), 0x62A8AB43U);
}

TEST(Crc32c, EveryFlippedBitIsSeen) {
  Bytes bytes = copy_of(bytes_of("what a lock message may look like, more or less"));
  const uint32_t right = crc32c(bytes);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_NE(crc32c(bytes), right);
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace tessera::base
