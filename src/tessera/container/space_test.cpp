#include "tessera/container/space.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::container {
namespace {

// Random used intervals in a universe of 64 bytes, against one flag a byte.
TEST(Space, PhysicalBytesAreTheFreeOnesInOrder) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 2000; ++round) {
    std::vector<Interval> used = {{0, 4}};
    while (used.back().end < 60 && random.chance(4, 5)) {
      const int64_t begin = used.back().end + static_cast<int64_t>(random.uniform(8));
      used.push_back({begin, begin + 1 + static_cast<int64_t>(random.uniform(8))});
    }
    const auto gap_min = static_cast<int64_t>(1 + random.uniform(5));
    std::vector<int64_t> free;  // the physical byte of each virtual one
    for (size_t i = 1; i < used.size(); ++i) {
      if (used[i].begin - used[i - 1].end < gap_min) continue;
      for (int64_t byte = used[i - 1].end; byte < used[i].begin; ++byte) free.push_back(byte);
    }
    const auto gap_bytes = static_cast<int64_t>(free.size());
    for (int64_t byte = used.back().end; free.size() < 100; ++byte) free.push_back(byte);

    const Space space(used, gap_min);
    EXPECT_EQ(space.gap_bytes(), gap_bytes);
    EXPECT_EQ(space.end(), used.back().end);
    const auto begin = static_cast<int64_t>(random.uniform(100));
    const int64_t end =
        begin + static_cast<int64_t>(random.uniform(101 - static_cast<uint64_t>(begin)));
    std::vector<int64_t> found;
    int64_t last = -1;
    for (const Interval place : space.physical({begin, end})) {
      EXPECT_FALSE(place.empty());
      EXPECT_NE(place.begin, last) << "neighbours are one interval";
      last = place.end;
      for (int64_t byte = place.begin; byte < place.end; ++byte) found.push_back(byte);
    }
    ASSERT_EQ(found, std::vector<int64_t>(free.begin() + begin, free.begin() + end));
  }
}

TEST(Space, FirstFitTakesAlsoSmallGaps) {
  const Space space({{0, 8}, {10, 20}, {24, 30}}, 1000);
  EXPECT_TRUE(space.gaps().empty());
  EXPECT_EQ(space.first_fit(2), (Interval{8, 10}));
  EXPECT_EQ(space.first_fit(3), (Interval{20, 23}));
  EXPECT_EQ(space.first_fit(5), (Interval{30, 35}));
}

TEST(Space, UsedSpaceIsHeaderBlobAndAllocations) {
  Superblock superblock;
  superblock.version = 1;
  superblock.block_bytes = 512;
  superblock.blob = {8192, 8192 + 700};
  superblock.end = int64_t{1} << 20;
  std::vector<Allocation> allocations(1);
  allocations[0].place = {10240, 10752};
  EXPECT_EQ(used_space(superblock, allocations).value(),
            (std::vector<Interval>{{0, 8192}, {8192, 9216}, {10240, 10752}}));
  superblock.version = kFormatVersion;
  EXPECT_FALSE(used_space(superblock, allocations)) << "the contents lie in the header";
  superblock.version = 1;
  allocations[0].place = {8704, 10240};
  EXPECT_EQ(used_space(superblock, allocations).error().code, base::Code::kIntegrity);
  allocations[0].place = {10241, 10752};
  EXPECT_EQ(used_space(superblock, allocations).error().code, base::Code::kIntegrity);
}

TEST(Space, ThereIsNoRoomBehindTheLargestPosition) {
  const Space space({{0, 8192}, {pattern::kMaxPosition - 2048, pattern::kMaxPosition - 1024}});
  const int64_t gap_blocks = space.gap_bytes() / 512;
  EXPECT_EQ(Space({{0, 8192}}).physical_blocks({0, 2}, 512).value().front(),
            (Interval{8192, 8192 + 1024}));
  EXPECT_EQ(space.physical_blocks({0, 2}, 512).value().size(), 1U);
  EXPECT_EQ(space.physical_blocks({0, 3}, 512).error().code, base::Code::kIntegrity);
  EXPECT_FALSE(space.physical_blocks({gap_blocks, gap_blocks + 1}, 512));
  EXPECT_FALSE(space.physical_blocks({0, std::numeric_limits<int64_t>::max()}, 512));
}

TEST(Space, AllocationsEndBeforeTheContainerDoes) {
  Superblock superblock;
  superblock.version = 1;
  superblock.block_bytes = 512;
  superblock.blob = {8192, 8200};
  superblock.end = 16384;
  Allocation allocation;
  allocation.place = {16384 - 512, 16384};
  EXPECT_TRUE(used_space(superblock, {allocation}));
  allocation.place = {16384, 16384 + 512};
  EXPECT_EQ(used_space(superblock, {allocation}).error().code, base::Code::kIntegrity);
}

}  // namespace
}  // namespace tessera::container
