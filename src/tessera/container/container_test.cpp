#include "tessera/container/container.hpp"

#include <gtest/gtest.h>

#include "tessera/container/checker.hpp"
#include "tessera/container/test_object_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::container {
namespace {

base::Bytes header_of(port::File& file) {
  base::Bytes header(static_cast<size_t>(kHeaderBytes));
  EXPECT_TRUE(file.read_at(0, header));
  return header;
}

class ContainerTest : public ::testing::Test {
 protected:
  ContainerTest()
      : file_(disk_.create("data.obj").value()),
        object_(TestObjectFile::create(*file_, random_).value()) {}

  void write_and_commit(const pattern::ByteSet& set) {
    ASSERT_TRUE(object_.write(set, random_));
    ASSERT_TRUE(object_.sync_data());
    ASSERT_TRUE(object_.commit());
  }

  port::SeededRandom random_{port::test_seed()};
  port::SimDisk disk_;
  std::unique_ptr<port::File> file_;
  TestObjectFile object_;
};

TEST_F(ContainerTest, ANewFileIsEmptyAndSound) {
  EXPECT_EQ(read_all(*file_).value(), "");
  EXPECT_TRUE(check(*file_).value().flawless());
  const Superblock first = Container::open(*file_).value().superblock();
  EXPECT_EQ(first.sequence, 1U);
  EXPECT_NE(first.file_id, FileId{});
}

TEST_F(ContainerTest, AFileThatCannotBeMadeIsLeftEmpty) {
  const auto file = disk_.create("new.obj").value();
  const int64_t used = file_->size().value();
  for (int64_t capacity = used; capacity < 2 * used; capacity += kTestBlock) {
    disk_.set_capacity(capacity);
    const auto made = Container::create(*file, random_, kTestBlock);
    EXPECT_TRUE(made || file->size().value() == 0) << capacity;
  }
  disk_.set_capacity(4 * used);
  EXPECT_TRUE(Container::create(*file, random_, kTestBlock));
}

TEST_F(ContainerTest, WhatWasDurableWhenItWasLeftNeedsNoSync) {
  TestFile counting(*file_);
  write_and_commit(test_set(0, 100));
  ASSERT_TRUE(TestObjectFile::open(counting));
  EXPECT_EQ(counting.syncs(), 0);
  // Killed before the second copy: nobody knows whether the first has reached the disk.
  for (int operations = 3; operations <= 9; ++operations) {
    TestFile killed(*file_);
    {
      TestObjectFile object = TestObjectFile::open(killed).value();
      ASSERT_TRUE(object.write(test_set(50 * operations, 100), random_));
      killed.kill_after(operations);
      static_cast<void>(object.commit());
    }
    const auto chosen = choose_superblock(header_of(*file_), "f").value();
    TestFile again(*file_);
    ASSERT_TRUE(TestObjectFile::open(again));
    EXPECT_EQ(again.syncs() == 0, chosen.settled) << operations;
  }
}

TEST_F(ContainerTest, MakingAFileNeedsNoSyncAndAnUntouchedOneNoCommit) {
  const auto file = disk_.create("new.obj").value();
  TestFile counting(*file);
  ASSERT_TRUE(Container::create(counting, random_));
  EXPECT_EQ(counting.syncs(), 0);
  EXPECT_TRUE(check(*file).value().flawless());
  EXPECT_EQ(read_all(*file).value(), "");
}

std::string page_of(port::File& file) {
  base::Bytes page(static_cast<size_t>(kPageBytes));
  EXPECT_TRUE(file.read_at(0, page));
  return std::string(base::text_of(page));
}

TEST_F(ContainerTest, Page0ShowsTheFirstBytesAsOfTheLastCommit) {
  const auto first_bytes = [](std::string text) {
    text.resize(static_cast<size_t>(kPageBytes));
    return text;
  };
  EXPECT_EQ(page_of(*file_), first_bytes(""));
  for (const auto& set : {test_set(5, 100), test_set(0, 300, 4, 2000), test_set(4000, 200),
                          test_set(9000, 100), test_set(0, 5000)}) {
    const std::string before = page_of(*file_);
    ASSERT_TRUE(object_.write(set, random_));
    EXPECT_EQ(page_of(*file_), before);
    ASSERT_TRUE(object_.sync_data());
    ASSERT_TRUE(object_.commit());
    EXPECT_EQ(page_of(*file_), first_bytes(object_.text()));
    EXPECT_TRUE(check(*file_).value().flawless());
  }
  object_.truncate(50);
  ASSERT_TRUE(object_.commit());
  EXPECT_EQ(page_of(*file_), first_bytes(object_.text()));
}

TEST_F(ContainerTest, Page0IsNeverBelieved) {
  // An object file whose first bytes are a header of version 1, as a copy of an old object file is.
  Superblock old;
  old.version = 1;
  old.sequence = 1000;
  old.block_bytes = kTestBlock;
  old.blob = {8192, 8192 + 20};
  old.end = 8192 + kTestBlock;
  write_and_commit(test_set(0, 9000));
  const std::string text = read_all(*file_).value();
  ASSERT_TRUE(file_->write_at(0, encode_superblock(old)));
  EXPECT_TRUE(read_all(*file_).value() == text);
  EXPECT_FALSE(check(*file_).value().sound());
  const std::byte bad{1};
  ASSERT_TRUE(file_->write_at(copy_offset(kFormatVersion, 0) + 60, {&bad, 1}));
  EXPECT_TRUE(read_all(*file_).value() == text);
}

TEST_F(ContainerTest, FilesOfVersion1AreReadAndWrittenAsSuch) {
  const auto file = disk_.create("old.obj").value();
  make_version_1(*file);
  EXPECT_TRUE(check(*file).value().flawless());
  EXPECT_EQ(read_all(*file).value(), "");
  for (const int64_t begin : {0, 700, 100}) {
    TestObjectFile object = TestObjectFile::open(*file).value();
    ASSERT_TRUE(object.write(test_set(begin, 600, 3, 1000), random_));
    ASSERT_TRUE(object.sync_data());
    ASSERT_TRUE(object.commit());
    EXPECT_EQ(object.container().superblock().version, 1U);
    EXPECT_TRUE(read_all(*file).value() == object.text());
    EXPECT_TRUE(check(*file).value().flawless());
  }
  base::Bytes header(8);
  ASSERT_TRUE(file->read_at(0, header));
  EXPECT_EQ(base::text_of(header).substr(1, 4), "TsrO");
}

TEST_F(ContainerTest, ReadersSeeCommitsAndNothingElse) {
  Container reader = Container::open(*file_).value();
  ASSERT_TRUE(object_.write(test_set(0, 100), random_));
  ASSERT_TRUE(object_.sync_data());
  EXPECT_FALSE(reader.refresh().value());
  ASSERT_TRUE(object_.commit());
  EXPECT_EQ(reader.superblock().logical_size, 0);
  EXPECT_TRUE(reader.refresh().value());
  EXPECT_EQ(reader.superblock().logical_size, 100);
  EXPECT_EQ(reader.superblock().sequence, 2U);
  EXPECT_FALSE(reader.refresh().value());
}

TEST_F(ContainerTest, AReaderThatWasOvertakenGetsTheNewContents) {
  Container reader = Container::open(*file_).value();
  // The blob of the first state is overwritten by one of the next two.
  for (const int64_t begin : {0, 50, 100}) write_and_commit(test_set(begin, 100));
  EXPECT_EQ(reader.superblock().sequence, 1U);
  EXPECT_EQ(reader.read_contents().value().size, 200);
  EXPECT_EQ(reader.superblock().sequence, 4U);
}

TEST_F(ContainerTest, TheSecondOfTwoWritersIsRefused) {
  TestObjectFile other = TestObjectFile::open(*file_).value();
  write_and_commit(test_set(0, 100));
  ASSERT_TRUE(other.write(test_set(0, 50), random_));
  ASSERT_TRUE(other.sync_data());
  const auto refused = other.commit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kDenied);
  EXPECT_EQ(Container::open(*file_).value().superblock(), object_.container().superblock());
}

TEST_F(ContainerTest, AFileWithoutAnotherCommitNumberIsRefused) {
  write_and_commit(test_set(0, 100));
  Superblock last = Container::open(*file_).value().superblock();
  last.sequence = kSequenceMax;
  ASSERT_TRUE(file_->write_at(copy_offset(last.version, 0), encode_superblock(last)));
  TestObjectFile again = TestObjectFile::open(*file_).value();
  const auto committed = again.commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, base::Code::kIntegrity);
  EXPECT_EQ(read_all(*file_).value().size(), 100U);
}

TEST_F(ContainerTest, SpaceIsUsedAgain) {
  for (int i = 0; i < 3; ++i) write_and_commit(test_set(0, 5000));
  const int64_t size = file_->size().value();
  for (int i = 0; i < 50; ++i) write_and_commit(test_set(0, 5000));
  EXPECT_EQ(file_->size().value(), size);
  EXPECT_TRUE(read_all(*file_).value() == object_.text());
}

TEST_F(ContainerTest, AllocationsOnTheContentsOrBehindTheEndAreRefused) {
  const Superblock before = object_.container().superblock();
  Contents contents = object_.contents();
  Allocation allocation;
  const int64_t blob = before.blob.begin;
  allocation.place = {blob, blob + kTestBlock};
  allocation.checksums = {1};
  contents.add(allocation);
  EXPECT_EQ(object_.container().commit(contents).error().code, base::Code::kInvalid);
  contents.allocations[0].place = {1 << 20, (1 << 20) + kTestBlock};
  EXPECT_EQ(object_.container().commit(contents).error().code, base::Code::kInvalid);
  contents.allocations[0].place = {0, kTestBlock};
  EXPECT_EQ(object_.container().commit(contents).error().code, base::Code::kIntegrity);
  EXPECT_EQ(Container::open(*file_).value().superblock(), before);
}

TEST_F(ContainerTest, WritesThatAreContinuedInsideMakeNoDifference) {
  disk_.set_attempt_max(100);
  write_and_commit(test_set(10, 40, 30, 70));
  EXPECT_TRUE(read_all(*file_).value() == object_.text());
  EXPECT_TRUE(check(*file_).value().flawless());
}

TEST(Checker, SeesThePaddingOfLargeBlocks) {
  port::SeededRandom random(port::test_seed());
  port::SimDisk disk;
  const auto file = disk.create("data.obj").value();
  const Container container = Container::create(*file, random).value();
  EXPECT_EQ(container.superblock().blob.begin, kBlockBytes);
  int64_t reported = 0;
  CheckOptions options;
  options.progress = [&](int64_t done, int64_t) { reported = done; };
  EXPECT_TRUE(check(*file, options).value().flawless());
  EXPECT_EQ(reported, 0) << "there are no blocks";
  for (const int64_t byte : {kHeaderBytes, kBlockBytes - 1, 2 * kBlockBytes - 1}) {
    const std::byte bad{1};
    ASSERT_TRUE(file->write_at(byte, {&bad, 1}));
    const CheckReport report = check(*file).value();
    ASSERT_EQ(report.findings.size(), 1U) << byte;
    EXPECT_NE(report.findings[0].find("byte " + std::to_string(byte)), std::string::npos);
    const std::byte good{0};
    ASSERT_TRUE(file->write_at(byte, {&good, 1}));
  }
}

}  // namespace
}  // namespace tessera::container
