#include "tessera/cache/kept_reads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tessera/port/test_directory.hpp"

namespace tessera::cache {
namespace {

using pattern::Interval;

constexpr int64_t kFileBytes = int64_t{3} << 20;
constexpr Interval kPart = {int64_t{1} << 20, int64_t{2} << 20};

base::Bytes content(int64_t begin, int64_t end) {
  base::Bytes bytes(static_cast<size_t>(end - begin));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto at = static_cast<uint64_t>(begin) + i;
    bytes[i] = static_cast<std::byte>(at * 2654435761U >> 16);
  }
  return bytes;
}

class KeptReadsTest : public testing::Test {
 protected:
  void SetUp() override {
    port::OpenMode mode;
    mode.write = mode.create = true;
    file_ = port::PlainFile::open(folder_.path("file"), mode).value();
    if (!file_->is_local()) GTEST_SKIP() << "temporary files are on no local file system";
    ASSERT_TRUE(file_->write_at(0, content(0, kFileBytes)));
  }

  // Reads the part as often as it takes for a mapping to pay.
  void read_until_mapped(KeptReads& reads) {
    for (int i = 0; i < 100 && !reads.maps(kPart); ++i) {
      reads.expect(kPart, nullptr);
      expect_content(reads, kPart);
    }
  }

  static void expect_content(KeptReads& reads, Interval part) {
    base::Bytes memory(static_cast<size_t>(part.length()));
    const port::Transfer read = reads.read_at(part.begin, memory);
    ASSERT_TRUE(read) << read.status.error().message();
    EXPECT_EQ(read.bytes, part.length());
    EXPECT_EQ(memory, content(part.begin, part.end));
  }

  port::TestDirectory folder_;
  std::unique_ptr<port::PlainFile> file_;
  move::Experience experience_;
};

TEST_F(KeptReadsTest, NothingIsMappedWhereTheUserWantsNoMapping) {
  KeptReads reads(*file_, experience_, 1);
  file_->want_mapping(false);
  read_until_mapped(reads);
  EXPECT_FALSE(reads.maps(kPart));
  file_->want_mapping(true);
  read_until_mapped(reads);
  EXPECT_TRUE(reads.maps(kPart));
  // Nor is a mapping used that was made before.
  file_->want_mapping(false);
  EXPECT_FALSE(reads.maps(kPart));
  expect_content(reads, kPart);
}

TEST_F(KeptReadsTest, BytesAreTheSameWithAndWithoutAMapping) {
  KeptReads reads(*file_, experience_, 1);
  EXPECT_FALSE(reads.maps(kPart));
  read_until_mapped(reads);
  ASSERT_TRUE(reads.maps(kPart));
  expect_content(reads, kPart);
  expect_content(reads, {kPart.begin + 17, kPart.end - 4097});
  expect_content(reads, {0, kFileBytes});
}

TEST_F(KeptReadsTest, APartThatIsReadOnceIsNotMapped) {
  KeptReads reads(*file_, experience_, 1);
  reads.expect(kPart, nullptr);
  expect_content(reads, kPart);
  EXPECT_FALSE(reads.maps(kPart));
}

TEST_F(KeptReadsTest, ListsGoWhereTheyShould) {
  KeptReads reads(*file_, experience_, 1);
  for (const bool mapped : {false, true}) {
    if (mapped) read_until_mapped(reads);
    base::Bytes memory(32 * 100);
    std::vector<port::ReadSegment> segments;
    for (int64_t i = 31; i >= 0; --i) {
      segments.push_back(
          {kPart.begin + i * 1000, std::span(memory).subspan(static_cast<size_t>(i) * 100, 100)});
    }
    const port::Transfer read = reads.read_list(segments);
    ASSERT_TRUE(read);
    EXPECT_EQ(read.bytes, std::ssize(memory));
    for (const port::ReadSegment& one : segments) {
      const base::Bytes expected = content(one.offset, one.offset + 100);
      EXPECT_TRUE(std::equal(one.memory.begin(), one.memory.end(), expected.begin()));
    }
  }
}

TEST_F(KeptReadsTest, AFileThatWasCutEndsTheRead) {
  KeptReads reads(*file_, experience_, 1);
  read_until_mapped(reads);
  ASSERT_TRUE(reads.maps(kPart));
  const int64_t cut = kPart.begin + 100'000;
  ASSERT_TRUE(file_->truncate(cut));
  base::Bytes memory(static_cast<size_t>(kPart.length()));
  const port::Transfer read = reads.read_at(kPart.begin, memory);
  ASSERT_TRUE(read);
  EXPECT_EQ(read.bytes, cut - kPart.begin);
}

TEST_F(KeptReadsTest, IsForReadingOnly) {
  KeptReads reads(*file_, experience_, 1);
  EXPECT_EQ(reads.write_at(0, base::Bytes(10)).status.error().errno_value, EBADF);
  EXPECT_EQ(reads.truncate(10).error().errno_value, EBADF);
  expect_content(reads, {0, 100});
  EXPECT_EQ(reads.size().value(), kFileBytes);
}

}  // namespace
}  // namespace tessera::cache
