#include "tessera/port/sim_disk.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace tessera::port {
namespace {

using base::bytes_of;
using base::text_of;

std::string content_of(const SimDisk& disk, const std::string& path) {
  const DiskImage image = disk.image();
  const auto found = image.files.find(path);
  return found == image.files.end() ? "(absent)" : std::string(text_of(found->second));
}

TEST(SimDisk, AnImageBecomesADiskAndAnImageAgain) {
  DiskImage image;
  image.files["top"] = base::copy_of(bytes_of("1"));
  image.files["a/b/deep"] = base::copy_of(bytes_of("22"));
  image.directories = {"a", "a/b", "empty"};
  SimDisk disk(image);
  EXPECT_EQ(disk.image(), image);
  EXPECT_EQ(disk.log_size(), 0U);
  EXPECT_TRUE(disk.open("/a/b/deep", Access::kRead));
}

TEST(SimDisk, AFaultStrikesTheNthOperationOnce) {
  SimDisk disk;
  const auto file = disk.create("a").value();
  disk.fail_operation(2, EIO);
  EXPECT_TRUE(file->write_at(0, bytes_of("x")));
  const auto failed = file->sync();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().errno_value, EIO);
  EXPECT_TRUE(file->sync());
  EXPECT_EQ(disk.operation_count(), 4U);
}

TEST(SimDisk, EveryOperationCanFailAndChangesNothingThen) {
  SimDisk disk;
  ASSERT_TRUE(disk.make_directory("d"));
  const auto file = disk.create("d/a").value();
  ASSERT_TRUE(file->write_at(0, bytes_of("abc")));
  const DiskImage before = disk.image();
  base::Bytes bytes(3);
  const auto failing = [&](auto operation) {
    disk.fail_operation(1, EIO);
    const bool failed = !operation();
    return failed && disk.image() == before;
  };
  EXPECT_TRUE(failing([&] { return disk.open("d/a", Access::kRead).has_value(); }));
  EXPECT_TRUE(failing([&] { return disk.create("d/b").has_value(); }));
  EXPECT_TRUE(failing([&] { return disk.make_directory("e").has_value(); }));
  EXPECT_TRUE(failing([&] { return disk.remove("d/a").has_value(); }));
  EXPECT_TRUE(failing([&] { return disk.rename("d/a", "c").has_value(); }));
  EXPECT_TRUE(failing([&] { return disk.list("d").has_value(); }));
  EXPECT_TRUE(failing([&] { return disk.sync_directory("d").has_value(); }));
  EXPECT_TRUE(failing([&] { return file->read_at(0, bytes).status.has_value(); }));
  EXPECT_TRUE(failing([&] { return file->write_at(0, bytes).status.has_value(); }));
  EXPECT_TRUE(failing([&] { return file->truncate(1).has_value(); }));
  EXPECT_TRUE(failing([&] { return file->sync().has_value(); }));
}

TEST(SimDisk, D1AFailedTransferCountsWhatMoved) {
  SimDisk disk;
  const auto file = disk.create("a").value();
  disk.set_attempt_max(4);
  disk.fail_operation(3, EIO);
  const Transfer written = file->write_at(0, bytes_of("0123456789"));
  EXPECT_FALSE(written);
  EXPECT_EQ(written.bytes, 8);
  EXPECT_EQ(content_of(disk, "a"), "01234567");
  EXPECT_EQ(written.status.error().context, "write a at byte 8");

  base::Bytes bytes(8);
  disk.fail_operation(2, EIO);
  const Transfer read = file->read_at(0, bytes);
  EXPECT_FALSE(read);
  EXPECT_EQ(read.bytes, 4);
}

TEST(SimDisk, D2InterruptedCallsAreContinued) {
  SimDisk disk;
  const auto file = disk.create("a").value();
  disk.set_attempt_max(4);
  disk.fail_operation(1, EINTR);
  disk.fail_operation(3, EINTR);
  const Transfer written = file->write_at(0, bytes_of("0123456789"));
  EXPECT_TRUE(written);
  EXPECT_EQ(written.bytes, 10);
  EXPECT_EQ(content_of(disk, "a"), "0123456789");
}

TEST(SimDisk, AFullDiskTakesWhatFits) {
  SimDisk disk;
  const auto other = disk.create("other").value();
  ASSERT_TRUE(other->write_at(0, bytes_of("12345")));
  const auto file = disk.create("a").value();
  disk.set_capacity(8);
  const Transfer written = file->write_at(0, bytes_of("abcdef"));
  EXPECT_FALSE(written);
  EXPECT_EQ(written.bytes, 3);
  EXPECT_EQ(written.status.error().errno_value, ENOSPC);
  EXPECT_EQ(content_of(disk, "a"), "abc");
  EXPECT_TRUE(file->write_at(0, bytes_of("xyz")));
  EXPECT_EQ(file->truncate(4).error().errno_value, ENOSPC);
  ASSERT_TRUE(disk.remove("other"));
  EXPECT_TRUE(file->write_at(3, bytes_of("12345")));
  EXPECT_FALSE(file->write_at(8, bytes_of("6")));
}

TEST(SimDisk, OffsetsPastTheLimitAreRefusedNotAllocated) {
  SimDisk disk;
  const auto file = disk.create("a").value();
  const auto far = file->write_at(int64_t{1} << 60, bytes_of("x"));
  EXPECT_EQ(far.status.error().errno_value, EFBIG);
  EXPECT_EQ(file->truncate(int64_t{1} << 60).error().errno_value, EFBIG);
}

TEST(SimDisk, SettleEmptiesTheLogAndKeepsTheFiles) {
  SimDisk disk;
  const auto file = disk.create("a").value();
  ASSERT_TRUE(file->write_at(0, bytes_of("abc")));
  EXPECT_EQ(disk.log_size(), 2U);
  disk.settle();
  EXPECT_EQ(disk.log_size(), 0U);
  EXPECT_EQ(disk.log().initial.image(), disk.image());
  ASSERT_TRUE(file->write_at(3, bytes_of("d")));
  EXPECT_EQ(content_of(disk, "a"), "abcd");
}

}  // namespace
}  // namespace tessera::port
