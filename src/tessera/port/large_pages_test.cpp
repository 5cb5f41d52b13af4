#include "tessera/port/large_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tessera/base/bytes.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/page_faults.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_sanitizers.hpp"

namespace tessera::port {
namespace {

constexpr int64_t kFileBytes = 4 * kLargePageBytes + 4096;
constexpr OpenMode kNew = {.read = true, .write = true, .create = true};

class LargePages : public testing::Test {
 protected:
  void SetUp() override {
    file_ = PlainFile::open(directory_.path("file"), kNew).value();
    ASSERT_TRUE(file_->truncate(kFileBytes));
  }

  TestDirectory directory_;
  std::unique_ptr<PlainFile> file_;
};

int64_t faults_of_reading(const PlainFile& file, int64_t begin, int64_t end) {
  const auto mapping = FileMapping::map(file, begin, end, Access::kRead);
  EXPECT_TRUE(mapping);
  std::byte byte = {};
  const int64_t before = thread_faults();
  for (int64_t at = begin; at < end; at += 4096) EXPECT_TRUE(mapping->load(at, {&byte, 1}));
  return thread_faults() - before;
}

// Whether the system keeps files in large pages, and has one: what is written at once is then
// mapped at once. The page is given back.
bool has_large_pages(PlainFile& file) {
  const base::Bytes page(static_cast<size_t>(kLargePageBytes), std::byte{1});
  EXPECT_TRUE(file.write_at(0, page));
  const int64_t faults = faults_of_reading(file, 0, kLargePageBytes);
  EXPECT_TRUE(file.truncate(0));
  return faults <= 2;
}

TEST_F(LargePages, AreWholeOnesOfTheRange) {
  EXPECT_EQ(take_large_pages(*file_, 0, kLargePageBytes - 1), 0);
  EXPECT_EQ(take_large_pages(*file_, 1, 2 * kLargePageBytes - 1), 0);
  EXPECT_EQ(take_large_pages(*file_, 5, 5), 0);
  const int64_t taken = take_large_pages(*file_, 1, 3 * kLargePageBytes);
  EXPECT_EQ(taken % kLargePageBytes, 0);
  EXPECT_LE(taken, 2 * kLargePageBytes);
}

// How many are at hand is the system's business; those that were had are mapped by one fault each,
// also after small writes.
TEST_F(LargePages, AreKeptWhenTheyAreWritten) {
  if (kSanitized) GTEST_SKIP() << "a watched build has faults of its own";
  const auto probe = PlainFile::open(directory_.path("probe"), kNew).value();
  if (!has_large_pages(*probe)) GTEST_SKIP() << "no large pages are at hand";
  const int64_t taken = take_large_pages(*file_, 0, kFileBytes);
  EXPECT_GT(taken, 0);
  EXPECT_EQ(taken % kLargePageBytes, 0);
  EXPECT_LE(taken, 4 * kLargePageBytes);
  const base::Bytes piece(size_t{64} << 10, std::byte{7});
  for (int64_t at = 0; at < taken; at += std::ssize(piece)) {
    ASSERT_TRUE(file_->write_at(at, piece));
  }
  if (taken > 0) {
    EXPECT_LE(faults_of_reading(*file_, 0, taken), 2 * (taken / kLargePageBytes));
  }
}

// Those that are there already stay as they are, and are not counted.
TEST_F(LargePages, AreNotMadeOfSmallOnes) {
  if (kSanitized) GTEST_SKIP() << "a watched build has faults of its own";
  const base::Bytes piece(4096, std::byte{7});
  for (int64_t at = kLargePageBytes - std::ssize(piece); at >= 0; at -= std::ssize(piece)) {
    ASSERT_TRUE(file_->write_at(at, piece));
  }
  EXPECT_EQ(take_large_pages(*file_, 0, kFileBytes), 0);
}

TEST_F(LargePages, ChangeNothing) {
  const base::Bytes before(4096, std::byte{3});
  ASSERT_TRUE(file_->write_at(kLargePageBytes, before));
  take_large_pages(*file_, 0, kFileBytes);
  base::Bytes all(static_cast<size_t>(kFileBytes));
  ASSERT_EQ(file_->read_at(0, all).bytes, kFileBytes);
  base::Bytes expected(static_cast<size_t>(kFileBytes));
  std::copy(before.begin(), before.end(), expected.begin() + kLargePageBytes);
  EXPECT_EQ(all, expected);
}

TEST_F(LargePages, AreNotTakenBehindTheEnd) {
  ASSERT_TRUE(file_->truncate(kLargePageBytes));
  EXPECT_LE(take_large_pages(*file_, 0, 4 * kLargePageBytes), kLargePageBytes);
  EXPECT_EQ(file_->size().value(), kLargePageBytes);
}

TEST_F(LargePages, NeedAFileThatIsReadable) {
  const auto blind =
      PlainFile::open(directory_.path("file"), {.read = false, .write = true}).value();
  EXPECT_EQ(take_large_pages(*blind, 0, kFileBytes), 0);
}

}  // namespace
}  // namespace tessera::port
