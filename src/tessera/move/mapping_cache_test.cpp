#include "tessera/move/mapping_cache.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>

#include "tessera/port/test_directory.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::move {
namespace {

constexpr Direction kRead = Direction::kRead;
constexpr Direction kWrite = Direction::kWrite;

class MappingCacheTest : public ::testing::Test {
 protected:
  [[nodiscard]] MappingCache::Mapping map(Interval part, Direction direction) const {
    return std::make_shared<const port::FileMapping>(
        port::FileMapping::map(*file_, part.begin, part.end, access_for(direction)).value());
  }

  const port::TestDirectory directory_;
  const std::unique_ptr<port::PlainFile> file_ =
      port::PlainFile::open(directory_.path("cached"),
                            {.read = true, .write = true, .create = true})
          .value();
  MappingCache cache_;
};

TEST_F(MappingCacheTest, IsGivenToWhomItHoldsEnough) {
  EXPECT_FALSE(cache_.take({0, 1}, kRead));
  cache_.keep(map({4096, 16384}, kRead));
  EXPECT_FALSE(cache_.holds({4095, 5000}, kRead));
  EXPECT_FALSE(cache_.holds({5000, 16385}, kRead));
  EXPECT_FALSE(cache_.holds({5000, 6000}, kWrite));
  EXPECT_FALSE(cache_.take({5000, 6000}, kWrite));
  EXPECT_TRUE(cache_.holds({4096, 16384}, kRead));
  const auto taken = cache_.take({4096, 16384}, kRead);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->begin(), 4096);
  EXPECT_EQ(taken->end(), 16384);
}

TEST_F(MappingCacheTest, IsUsedByOneAtATime) {
  cache_.keep(map({0, 4096}, kWrite));
  auto first = cache_.take({0, 4096}, kRead);
  EXPECT_TRUE(first);
  EXPECT_FALSE(cache_.take({0, 4096}, kRead));
  cache_.keep(std::move(first));
  EXPECT_TRUE(cache_.take({0, 4096}, kWrite));
}

TEST_F(MappingCacheTest, TheLastOneStays) {
  cache_.keep(map({0, 4096}, kRead));
  cache_.keep(map({8192, 12288}, kRead));
  EXPECT_FALSE(cache_.holds({0, 1}, kRead));
  EXPECT_TRUE(cache_.holds({8192, 8193}, kRead));
}

TEST_F(MappingCacheTest, WhatWasMissedAddsUpForOnePartAndDirection) {
  EXPECT_EQ(cache_.missed_ns({0, 100}, kRead), 0);
  cache_.note_missed({0, 100}, kRead, 3);
  cache_.note_missed({0, 100}, kWrite, 5);
  cache_.note_missed({0, 100}, kRead, 4);
  EXPECT_EQ(cache_.missed_ns({0, 100}, kRead), 7);
  EXPECT_EQ(cache_.missed_ns({0, 100}, kWrite), 5);
  EXPECT_EQ(cache_.missed_ns({0, 99}, kRead), 0);
  cache_.note_missed({0, 99}, kRead, 1);
  EXPECT_EQ(cache_.missed_ns({0, 100}, kRead), 0);
  EXPECT_EQ(cache_.missed_ns({0, 99}, kRead), 1);
}

TEST_F(MappingCacheTest, OnlyCommittedBytesAreTouched) {
  std::array<std::byte, 100> bytes = {};
  bytes[7] = std::byte{42};
  ASSERT_TRUE(file_->write_at(0, bytes));
  std::byte seen = {};
  const auto look = [&](const std::byte* at) { seen = *at; };
  EXPECT_FALSE(cache_.touch({7, 100}, look));
  cache_.keep(map({0, 4096}, kRead));
  EXPECT_FALSE(cache_.touch({7, 100}, look));
  cache_.note_committed(100);
  EXPECT_FALSE(cache_.touch({7, 101}, look));
  EXPECT_TRUE(cache_.touch({7, 100}, look));
  EXPECT_EQ(seen, std::byte{42});
  // The page goes with its bytes.
  ASSERT_TRUE(file_->truncate(0));
  EXPECT_FALSE(cache_.touch({7, 100}, look));
  EXPECT_FALSE(cache_.reaches({7, 100}));
}

// Each thread stays in the mapping until the other is there too.
TEST_F(MappingCacheTest, ThreadsTouchItTogether) {
  ASSERT_TRUE(file_->truncate(4096));
  cache_.keep(map({0, 4096}, kRead));
  cache_.note_committed(4096);
  std::atomic<int> inside = 0;
  std::atomic<int> met = 0;
  const auto meet = [&](const std::byte*) {
    ++inside;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (inside < 2 && std::chrono::steady_clock::now() < end) {
    }
    if (inside == 2) ++met;
  };
  port::run_ranks(2, [&](port::Exchange&) { EXPECT_TRUE(cache_.touch({0, 10}, meet)); });
  EXPECT_EQ(met, 2);
}

// It goes when the last one has left it.
TEST_F(MappingCacheTest, WhatIsTouchedStays) {
  ASSERT_TRUE(file_->truncate(4096));
  cache_.keep(map({0, 4096}, kRead));
  cache_.note_committed(4096);
  std::byte seen{1};
  EXPECT_TRUE(cache_.touch({0, 10}, [&](const std::byte* at) {
    cache_.drop_for_reading();
    seen = *at;
  }));
  EXPECT_EQ(seen, std::byte{0});
  EXPECT_FALSE(cache_.holds({0, 1}, kRead));
}

TEST_F(MappingCacheTest, OnlyWhatIsMappedForReadingIsDropped) {
  cache_.keep(map({0, 4096}, kRead));
  cache_.drop_for_reading();
  EXPECT_FALSE(cache_.holds({0, 1}, kRead));
  cache_.keep(map({0, 4096}, kWrite));
  cache_.drop_for_reading();
  EXPECT_TRUE(cache_.holds({0, 1}, kRead));
}

}  // namespace
}  // namespace tessera::move
