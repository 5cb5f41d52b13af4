#include "tessera/cache/regions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tessera/base/checksum.hpp"
#include "tessera/port/sim_disk.hpp"

namespace tessera::cache {
namespace {

// Of both small blocks and blocks that are larger than what is read back at a time.
TEST(Regions, WhatWasFilledIsWrittenAgainAndChecked) {
  for (const int64_t block : {int64_t{16} << 10, int64_t{2} << 20}) {
    port::SimDisk disk;
    const auto file = disk.create("f").value();
    Regions regions(block);
    regions.add_room(1, {0, 4 * block});
    const auto extents = regions.take(2 * block + 5);
    ASSERT_EQ(extents.size(), 1U);
    const base::Bytes bytes(static_cast<size_t>(extents[0].bytes), std::byte{7});
    ASSERT_TRUE(file->write_at(extents[0].position(), bytes));
    regions.note_written(extents[0], {});
    ASSERT_TRUE(regions.close(*file, 0));
    const uint64_t before = disk.operation_count();
    ASSERT_TRUE(regions.write_again(*file));
    EXPECT_GT(disk.operation_count(), before);
    // The control: bytes that changed behind our back are not passed off as what was written.
    ASSERT_TRUE(file->write_at(block + 1, base::bytes_of("x")));
    const auto again = regions.write_again(*file);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, base::Code::kIntegrity);
  }
}

TEST(Regions, PlacesThatWereGivenBackAreGivenOutAgain) {
  Regions regions(512);
  regions.add_room(1, {0, 512});
  regions.add_room(2, {1024, 2048});
  const auto first = regions.take(300);
  const auto second = regions.take(400);  // of both regions
  const auto third = regions.take(500);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(regions.room(), 1536 - 1200);
  // What lies before others that are in use stays out of use.
  for (const Extent& extent : second) regions.give_back(extent);
  EXPECT_EQ(regions.room(), 1536 - 1200 + 212);
  for (const Extent& extent : third) regions.give_back(extent);
  EXPECT_EQ(regions.room(), 1536 - 300);
  EXPECT_EQ(regions.take(400).front().place, 300);
  regions.give_back({1, 100, 50, 0});
  EXPECT_FALSE(regions.take_again(51));
  EXPECT_EQ(regions.take_again(30)->place, 100);
  EXPECT_EQ(regions.take_again(20)->place, 130);
  EXPECT_FALSE(regions.take_again(1));
  // What a commit that failed may have named is not used again.
  regions.seal();
  for (const Extent& extent : first) regions.give_back(extent);
  EXPECT_EQ(regions.room(), 0);
}

// A disk without space does not keep a block from being whole, where only zeros are missing.
TEST(Regions, ZerosThatAreThereAnywayNeedNoSpace) {
  for (const bool dirty : {false, true}) {
    port::SimDisk disk;
    const auto file = disk.create("f").value();
    Regions regions(512);
    regions.add_room(1, {0, 1024});
    const auto extent = regions.take(100).front();
    ASSERT_TRUE(file->write_at(0, base::Bytes(100, std::byte{7})));
    if (dirty) {
      ASSERT_TRUE(file->write_at(200, base::bytes_of("not ours")));
    }
    regions.note_written(extent, {});
    disk.fail_operation(1, ENOSPC);
    const auto closed = regions.close(*file, 0);
    ASSERT_EQ(closed.has_value(), !dirty);
    if (dirty) continue;
    base::Bytes block(512);
    std::fill(block.begin(), block.begin() + 100, std::byte{7});
    EXPECT_EQ(closed->front().checksums, std::vector{base::checksum(block)});
  }
}

}  // namespace
}  // namespace tessera::cache
