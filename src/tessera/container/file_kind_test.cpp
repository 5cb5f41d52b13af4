#include "tessera/container/file_kind.hpp"

#include <gtest/gtest.h>

#include "tessera/container/remains.hpp"
#include "tessera/container/test_object_file.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::container {
namespace {

TEST(FileKind, NamesArePathsWithAPrefixOrWithout) {
  EXPECT_EQ(parse_file_name("obj:/a/b").path, "/a/b");
  EXPECT_TRUE(parse_file_name("obj:/a/b").object);
  for (const char* plain : {"/a/b", "", ":", "objx:/a", "/x/obj:a", "host:a"}) {
    EXPECT_EQ(parse_file_name(plain).path, plain);
    EXPECT_FALSE(parse_file_name(plain).object || parse_file_name(plain).foreign) << plain;
  }
  EXPECT_EQ(parse_file_name("ufs:/a").path, "ufs:/a");
  EXPECT_TRUE(parse_file_name("ufs:/a").foreign);
}

TEST(FileKind, TheFirstRuleThatMatchesCounts) {
  const auto rules =
      KindRules::parse(" *.nc = obj; scratch/*=plain,*.h5=obj\n/data/*=obj;;a=b=plain").value();
  const auto kind = [&](const char* path) { return rules.kind_of(path); };
  EXPECT_EQ(kind("x.nc"), FileKind::kObject);
  EXPECT_EQ(kind("/folder/x.nc"), FileKind::kObject);
  EXPECT_EQ(kind("scratch/x.h5"), FileKind::kPlain);
  EXPECT_EQ(kind("/other/scratch/x.h5"), FileKind::kObject);
  EXPECT_EQ(kind("/data/anything"), FileKind::kObject);
  EXPECT_EQ(kind("a=b"), FileKind::kPlain);
  EXPECT_EQ(kind("x.ncx"), std::nullopt);
  EXPECT_EQ(KindRules::parse("").value().kind_of("x"), std::nullopt);
}

TEST(FileKind, BadRulesAreNamed) {
  const auto error = [](const char* text) { return KindRules::parse(text).error().context; };
  EXPECT_EQ(error("*.h5=obj;*.nc").find("the rule \"*.nc\" names no kind"), 0U);
  EXPECT_EQ(error("=obj").find("the rule \"=obj\" names no files"), 0U);
  EXPECT_EQ(error("*.nc=objects").find("the rule \"*.nc=objects\" names an unknown kind"), 0U);
}

class ContentsOfFiles : public ::testing::Test {
 protected:
  ContentsOfFiles() : file_(disk_.create("f").value()) {}

  port::SeededRandom random_{port::test_seed()};
  port::SimDisk disk_;
  std::unique_ptr<port::File> file_;
};

TEST_F(ContentsOfFiles, AnObjectFileIsKnownByItsSuperblocksOfEitherVersion) {
  EXPECT_EQ(kind_of(*file_).value(), FileKind::kPlain);
  ASSERT_TRUE(Container::create(*file_, random_));
  EXPECT_EQ(kind_of(*file_).value(), FileKind::kObject);
  // Its first bytes are those of any file.
  ASSERT_TRUE(file_->write_at(0, base::bytes_of("CDF")));
  EXPECT_EQ(kind_of(*file_).value(), FileKind::kObject);
  const auto old = disk_.create("old").value();
  make_version_1(*old);
  EXPECT_EQ(kind_of(*old).value(), FileKind::kObject);
}

TEST_F(ContentsOfFiles, WhatRemainsOfAnOverwrittenHeaderIsFound) {
  EXPECT_FALSE(find_remains(*file_).value());
  {
    TestObjectFile object = TestObjectFile::create(*file_, random_).value();
    ASSERT_TRUE(object.write(test_set(0, 5000), random_));
    ASSERT_TRUE(object.commit());
  }
  base::Bytes garbage(static_cast<size_t>(header_end(kTestBlock)));
  random_.fill(garbage);
  ASSERT_TRUE(file_->write_at(0, garbage));
  EXPECT_EQ(kind_of(*file_).value(), FileKind::kPlain);
  EXPECT_TRUE(find_remains(*file_).value());
  const auto other = disk_.create("other").value();
  for (int64_t at = 0; at < 4; ++at) {
    ASSERT_TRUE(other->write_at(at * std::ssize(garbage), garbage));
  }
  EXPECT_FALSE(find_remains(*other).value());
}

TEST_F(ContentsOfFiles, RemainsAreFoundAtTheEndOfALargeFile) {
  {
    TestObjectFile object = TestObjectFile::create(*file_, random_).value();
    ASSERT_TRUE(object.write(test_set(0, 5000), random_));
    ASSERT_TRUE(object.commit());
  }
  base::Bytes head(static_cast<size_t>(kContentsHeadBytes));
  ASSERT_TRUE(file_->read_at(find_remains(*file_).value().value(), head));
  const port::TestDirectory directory;
  const auto large =
      port::PlainFile::open(directory.path("large"), {.write = true, .create = true}).value();
  const int64_t place = 4 * kRemainsBytes;
  ASSERT_TRUE(large->truncate(place + kTestBlock));
  EXPECT_FALSE(find_remains(*large).value());
  ASSERT_TRUE(large->write_at(place, head));
  EXPECT_EQ(find_remains(*large).value(), place);
}

}  // namespace
}  // namespace tessera::container
