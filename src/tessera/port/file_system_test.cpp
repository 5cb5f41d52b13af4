#include "tessera/port/file_system.hpp"

#include <gtest/gtest.h>

#include "tessera/port/plain_file.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::port {
namespace {

TEST(FileSystem, FilesOfOneFolderLieOnOneFileSystem) {
  const TestDirectory directory;
  const OpenMode fresh = {.write = true, .create = true};
  const auto a = PlainFile::open(directory.path("a"), fresh).value();
  const auto b = PlainFile::open(directory.path("b"), fresh).value();
  const auto id = file_system_id(a->descriptor());
  ASSERT_TRUE(id) << id.error().message();
  EXPECT_EQ(*id, file_system_id(b->descriptor()).value());
  EXPECT_EQ(id->find_first_not_of("0123456789abcdef-device"), std::string::npos) << *id;
  EXPECT_FALSE(file_system_id(-1));
}

TEST(FileSystem, OtherFileSystemsAreOthers) {
  const TestDirectory directory;
  const auto here = PlainFile::open(directory.path("a"), {.write = true, .create = true}).value();
  const auto there = PlainFile::open("/proc/self/status", {}).value();
  EXPECT_NE(file_system_id(here->descriptor()).value(),
            file_system_id(there->descriptor()).value());
  const auto mount = mount_of(there->descriptor());
  ASSERT_TRUE(mount) << mount.error().message();
  EXPECT_EQ(mount->type, "proc");
}

TEST(FileSystem, MountsAreFoundByTheirDevice) {
  const std::string text =
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "23 22 0:21 / /proc rw shared:2 master:7 - proc proc rw\n"
      "24 22 0:50 / /a\\040b rw - nfs4 server:/x\\134y rw,vers=4.2\n"
      "25 22 8:1 /sub /again rw - ext4 /dev/sda1 rw\n"
      "26 22 8:2\n"
      "garbage\n";
  const auto nfs = find_mount(text, "0:50");
  ASSERT_TRUE(nfs);
  EXPECT_EQ(nfs->point, "/a b");
  EXPECT_EQ(nfs->type, "nfs4");
  EXPECT_EQ(nfs->source, "server:/x\\y");
  EXPECT_EQ(find_mount(text, "0:21")->type, "proc");
  EXPECT_EQ(find_mount(text, "8:1")->point, "/again");
  EXPECT_EQ(find_mount(text, "8:2").error().code, base::Code::kNotFound);
  EXPECT_FALSE(find_mount("", "8:1"));
}

}  // namespace
}  // namespace tessera::port
