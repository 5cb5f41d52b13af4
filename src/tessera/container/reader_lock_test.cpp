#include "tessera/container/reader_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tessera/container/container.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::container {
namespace {

std::unique_ptr<port::PlainFile> open_file(const std::string& path) {
  port::OpenMode mode;
  mode.write = true;
  mode.create = true;
  auto opened = port::PlainFile::open(path, mode);
  EXPECT_TRUE(opened) << opened.error().message();
  return *std::move(opened);
}

TEST(ReaderLock, OpensOfOneFileSeeEachOther) {
  const port::TestDirectory directory;
  const std::string path = directory.path("object");
  const auto writer = open_file(path);
  auto reader = open_file(path);
  const auto another = open_file(path);
  EXPECT_FALSE(has_readers(*writer));
  hold_for_reading(*reader);
  EXPECT_TRUE(try_hold_for_reading(*another));
  EXPECT_TRUE(has_readers(*writer));
  reader.reset();
  EXPECT_TRUE(has_readers(*writer));
  ASSERT_TRUE(another->lock_range(0, int64_t{1} << 62, port::RangeLock::kUnlock));
  EXPECT_TRUE(has_readers(*writer)) << "the byte lies behind all others";
}

TEST(ReaderLock, AnExclusiveLockOfTheWholeFileIsRefusedNotWaitedFor) {
  const port::TestDirectory directory;
  const std::string path = directory.path("object");
  const auto reader = open_file(path);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  auto other = open_file(path);
  ASSERT_EQ(::fcntl(other->descriptor(), F_OFD_SETLK, &whole), 0);
  const auto refused = try_hold_for_reading(*reader);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kRetry);
  EXPECT_NE(refused.error().message().find("is locked by another program"), std::string::npos);
  other.reset();
  EXPECT_TRUE(try_hold_for_reading(*reader));
}

// Two commits after spare_all() was last called, the blob of an older state is still there.
TEST(ReaderLock, WhatOthersReadIsSpared) {
  port::SimDisk disk;
  port::SeededRandom random(1);
  const auto file = *disk.create("f");
  auto container = Container::create(*file, random);
  ASSERT_TRUE(container);
  for (const bool spare : {false, true}) {
    auto reader = Container::open(*file);
    ASSERT_TRUE(reader);
    const Superblock found = reader->superblock();
    for (int i = 0; i < 3; ++i) {
      if (spare) {
        ASSERT_TRUE(container->spare_all());
      }
      Contents contents;
      contents.size = 100 + i + (spare ? 10 : 0);
      ASSERT_TRUE(container->commit(contents));
    }
    const auto blob = reader->read_blob();
    ASSERT_TRUE(blob);
    EXPECT_EQ(reader->superblock().sequence == found.sequence, spare);
  }
}

}  // namespace
}  // namespace tessera::container
