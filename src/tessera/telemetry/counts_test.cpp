#include "tessera/telemetry/counts.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "tessera/telemetry/test_counts.hpp"

namespace tessera::telemetry {
namespace {

FileCounts test_file() {
  FileCounts file;
  file.path = {'/', 'a'};
  file.opens = 2;
  file.read.bytes = 100;
  file.uses[0][1][2].reason = {'w', 'h', 'y'};
  return file;
}

std::string refusal(const base::Bytes& content) {
  const auto left = decode_counts(content, kTestVersion);
  if (left) return "";
  EXPECT_EQ(left.error().code, base::Code::kInvalid);
  return left.error().message();
}

std::string refusal_with(size_t at, int64_t number) {
  base::Bytes content = test_counts({test_file(), test_file()});
  put_number(content, at, number);
  return refusal(content);
}

TEST(DecodeCounts, WhatARankLeft) {
  const auto left = decode_counts(test_counts({test_file(), {}}), kTestVersion);
  ASSERT_TRUE(left) << left.error().message();
  EXPECT_EQ(left->job.program, "/bin/program");
  EXPECT_EQ(left->job.mpi, "MPICH");
  EXPECT_EQ(left->job.library, kTestVersion);
  EXPECT_EQ(left->job.ranks, 3);
  EXPECT_EQ(left->rank, 1);
  EXPECT_EQ(left->elapsed_ns, 5);
  ASSERT_EQ(left->files.size(), 2U);
  EXPECT_STREQ(left->files[0].path.data(), "/a");
  EXPECT_EQ(left->files[0].opens, 2);
  EXPECT_EQ(left->files[0].read.bytes, 100);
  EXPECT_STREQ(left->files[0].uses[0][1][2].reason.data(), "why");
}

TEST(DecodeCounts, WhatIsCutOffIsRefused) {
  const base::Bytes content = test_counts({test_file(), test_file()});
  const auto cut = [&](size_t size) {
    return refusal(base::copy_of(base::ByteView(content).first(size)));
  };
  for (const size_t size : {size_t{0}, size_t{1}, TestHeader::kBytes, kTestHeaderBytes - 1}) {
    EXPECT_EQ(cut(size), "does not hold the counts of a rank") << size;
  }
  for (const size_t size :
       {kTestHeaderBytes, kTestHeaderBytes + kTestFileBytes, content.size() - 1}) {
    EXPECT_EQ(cut(size), "ends before the counts of its files do") << size;
  }
  EXPECT_EQ(cut(content.size()), "");
}

TEST(DecodeCounts, WhatIsOfAnotherKindOrBuildIsRefused) {
  EXPECT_EQ(refusal_with(TestHeader::kMagic, 0), "does not hold the counts of a rank");
  const std::string other = "was written by another build of Tessera";
  for (const size_t at : {TestHeader::kHeaderSize, TestHeader::kFileSize}) {
    EXPECT_EQ(refusal_with(at, -1).find(other), 0U) << at;
  }
  base::Bytes content = test_counts({});
  put_text(content, TestHeader::kLibrary, std::string(64, 'v'));
  EXPECT_EQ(refusal(content).find(other + " (" + std::string(64, 'v') + ")"), 0U) << "no 0 ends it";
}

TEST(DecodeCounts, FiguresThatCannotBeAreRefused) {
  constexpr int64_t kTooMany = (int64_t{1} << 62) + 1;
  const auto second = kTestHeaderBytes + kTestFileBytes;
  for (const int64_t wrong : {int64_t{-1}, kTooMany, INT64_MIN, INT64_MAX}) {
    for (const size_t at :
         {TestHeader::kRanks, TestHeader::kRank, TestHeader::kStarted, TestHeader::kElapsed,
          TestHeader::kFiles, TestHeader::kFilesLost, second + offsetof(FileCounts, opens),
          second + offsetof(FileCounts, write) + offsetof(Traffic, run_sizes),
          second + offsetof(FileCounts, copy_ns), second + offsetof(FileCounts, uses)}) {
      EXPECT_EQ(refusal_with(at, wrong), "has figures that cannot be") << at << " " << wrong;
    }
  }
  EXPECT_EQ(refusal_with(TestHeader::kRanks, 0), "has figures that cannot be");
  EXPECT_EQ(refusal_with(TestHeader::kRank, 3), "has figures that cannot be") << "of 3 ranks";
}

// Texts that fill their places are cut, so nobody reads behind them.
TEST(DecodeCounts, TextsEnd) {
  FileCounts file = test_file();
  file.path.fill('p');
  file.uses[1][1][0].reason.fill('r');
  const auto left = decode_counts(test_counts({file}), kTestVersion);
  ASSERT_TRUE(left);
  EXPECT_EQ(std::string(left->files[0].path.data()), std::string(file.path.size() - 1, 'p'));
  EXPECT_EQ(std::string(left->files[0].uses[1][1][0].reason.data()),
            std::string(file.uses[1][1][0].reason.size() - 1, 'r'));
  base::Bytes content = test_counts({});
  put_text(content, TestHeader::kProgram, std::string(4096, 'p'));
  EXPECT_EQ(decode_counts(content, kTestVersion)->job.program, std::string(4096, 'p'));
}

}  // namespace
}  // namespace tessera::telemetry
