#include "tessera/base/checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>

namespace tessera::base {
namespace {

// A byte sequence that is the same everywhere.
Bytes sample(size_t count) {
  Bytes bytes(count);
  uint32_t state = 12345;
  for (std::byte& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

TEST(Checksum, KeepsTheValuesThatStandInFiles) {
  // From the xxHash library itself.
  EXPECT_EQ(checksum({}), 0x2d06800538d394c2U);
  EXPECT_EQ(checksum(bytes_of("123456789")), 0x72dcb18b67a17dffU);
  EXPECT_EQ(checksum(sample(16384)), 0xfbda2f778ae25831U);
}

// Whether every version that runs here gives the same.
bool all_agree(ByteView bytes) {
  const uint64_t expected = checksum(bytes);
  return std::all_of(std::begin(kChecksumLevels), std::end(kChecksumLevels),
                     [&](ChecksumLevel level) {
                       return !checksum_runs(level) || checksum_at(level, bytes) == expected;
                     });
}

TEST(Checksum, AllVersionsAgreeAtEveryLengthAndAlignment) {
  ASSERT_TRUE(checksum_runs(ChecksumLevel::kPortable));
  const Bytes bytes = sample(16384 + 64);
  for (size_t length = 0; length < 16384; length = length < 1100 ? length + 1 : length * 3 / 2) {
    for (const size_t offset : {size_t{0}, size_t{1}, size_t{33}}) {
      ASSERT_TRUE(all_agree(ByteView(bytes).subspan(offset, length))) << length;
    }
  }
}

TEST(Checksum, EveryBitOfABlockCounts) {
  Bytes bytes = sample(4096);
  const uint64_t expected = checksum(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1U << bit % 8);
    bytes[bit / 8] ^= mask;
    ASSERT_NE(checksum(bytes), expected) << bit;
    bytes[bit / 8] ^= mask;
  }
}

TEST(Checksum, SpeedOfBlocksInCache) {
  const Bytes block = sample(16384);
  for (const ChecksumLevel level : kChecksumLevels) {
    if (!checksum_runs(level)) continue;
    constexpr int kRounds = 2000;
    uint64_t sum = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) sum += checksum_at(level, block);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    const double speed = kRounds * static_cast<double>(block.size()) / time.count() / 1e9;
    std::printf("level %d: %.1f GB/s\n", static_cast<int>(level), speed);
    EXPECT_NE(sum, 0U);
    EXPECT_GT(speed, 0.1);
  }
}

}  // namespace
}  // namespace tessera::base
