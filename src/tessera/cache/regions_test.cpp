#include "tessera/cache/regions.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tessera::cache
