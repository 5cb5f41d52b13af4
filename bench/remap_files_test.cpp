#include "bench/remap_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/remap_views.hpp"
#include "bench/scratch_folder.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::bench {
namespace {

constexpr int64_t kSide = 4096;
constexpr int64_t kSize = kSide * kSide;

TEST(RemapFiles, ContentDoesNotDependOnWhereReadingBegins) {
  base::Bytes whole(100);
  fill_content(1000, whole);
  for (size_t begin = 0; begin < 20; ++begin) {
    base::Bytes part(31);
    fill_content(1000 + static_cast<int64_t>(begin), part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + std::ptrdiff_t(begin)));
  }
}

TEST(RemapFiles, APlainFileIsCheckedByteForByte) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/plain";
  const int64_t size = (int64_t{8} << 20) + 12345;
  ASSERT_TRUE(make_plain_file(path, size));
  EXPECT_TRUE(check_plain_file(path, size));
  EXPECT_FALSE(check_plain_file(path, size - 1));
  const auto file = port::PlainFile::open(path, {.read = true, .write = true});
  ASSERT_TRUE(file);
  base::Bytes byte(1);
  ASSERT_TRUE((*file)->read_at(size - 1, byte));
  byte[0] ^= std::byte{1};
  ASSERT_TRUE((*file)->write_at(size - 1, byte));
  EXPECT_FALSE(check_plain_file(path, size));
  EXPECT_TRUE(remove_file(path));
  EXPECT_FALSE(check_plain_file(path, size));
  EXPECT_TRUE(remove_file(path)) << "it need not be there";
}

class RemapFilesOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_);
    path_ = folder_->path() + "/objects";
    views_ = views_text(Shape::kColumns, 4, kSide);
    const auto made = make_object_file(path_, views_, kSize);
    ASSERT_TRUE(made) << made.error().message();
  }

  base::Result<ScratchFolder> folder_ = ScratchFolder::make();
  std::string path_;
  std::string views_;
};

TEST_F(RemapFilesOnDisk, WhatWasMadeIsRight) {
  const auto right = check_object_file(path_, views_, kSize);
  EXPECT_TRUE(right) << right.error().message();
}

TEST_F(RemapFilesOnDisk, AViewInSeveralPlacesIsFound) {
  const auto wrong = check_object_file(path_, views_text(Shape::kRows, 3, kSide), kSize);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("in several places"), std::string::npos);
}

TEST_F(RemapFilesOnDisk, AnotherSizeIsFound) {
  const auto wrong = check_object_file(path_, views_, kSize - 1);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, base::Code::kIntegrity);
}

TEST_F(RemapFilesOnDisk, ADamagedByteIsFound) {
  port::OpenMode mode;
  mode.write = true;
  const auto file = port::PlainFile::open(path_, mode);
  ASSERT_TRUE(file);
  base::Bytes byte(1);
  ASSERT_TRUE((*file)->read_at(kSize / 2, byte));
  byte[0] ^= std::byte{1};
  ASSERT_TRUE((*file)->write_at(kSize / 2, byte));
  const auto wrong = check_object_file(path_, views_, kSize);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, base::Code::kIntegrity);
}

}  // namespace
}  // namespace tessera::bench
