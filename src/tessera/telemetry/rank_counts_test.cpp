// When the counts of a rank are saved, and what becomes of those that cannot be.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tessera/port/test_directory.hpp"
#include "tessera/telemetry/counts.hpp"

namespace tessera::telemetry {
namespace {

class RankCountsTest : public ::testing::Test {
 protected:
  void SetUp() override { counts_.keep_in(folder_, 1, {"program", "mpi", "version", 2, 3}); }

  // As they were saved last, of the only file.
  [[nodiscard]] FileCounts saved() const {
    const auto left = read_counts(path_, "version");
    EXPECT_TRUE(left) << left.error().message();
    return left && left->files.size() == 1 ? left->files.front() : FileCounts();
  }

  const port::TestDirectory directory_ = {};
  const std::string folder_ = directory_.path("counts");
  const std::string path_ = folder_ + "/rank-1";
  RankCounts counts_ = {};
};

TEST_F(RankCountsTest, AreSavedAtOnceOrWhenEnoughCameTogether) {
  counts_.of("/a").opens = 1;
  EXPECT_FALSE(std::filesystem::exists(path_));
  counts_.save(5);
  EXPECT_EQ(saved().opens, 1);
  EXPECT_EQ(read_counts(path_, "version")->elapsed_ns, 5);
  for (int i = 0; i < 100; ++i) counts_.save_if_due(5, 0);
  counts_.save(5);
  counts_.of("/a").write.calls = 1;
  counts_.save_if_due(6, RankCounts::kSaveBytes - 1);
  EXPECT_EQ(saved().write.calls, 0);
  counts_.save_if_due(6, 1);
  EXPECT_EQ(saved().write.calls, 1);
  counts_.of("/a").write.calls = 2;
  counts_.save_if_due(5 + RankCounts::kSaveNs, 0);
  EXPECT_EQ(saved().write.calls, 1);
  counts_.save_if_due(6 + RankCounts::kSaveNs, 0);
  EXPECT_EQ(saved().write.calls, 2);
  counts_.end();
  EXPECT_FALSE(std::filesystem::exists(folder_));
  EXPECT_EQ(counts_.all().front()->write.calls, 2);
}

TEST_F(RankCountsTest, AreSavedAlsoOfFewSmallAccessesThatEndAtOnce) {
  constexpr int64_t kCalls = 2'000;
  for (int64_t i = 1; i <= kCalls; ++i) {
    counts_.of("/a").write.calls = i;
    counts_.save_if_due(0, 8);
    ASSERT_GT(2 * saved().write.calls, i);
  }
}

TEST_F(RankCountsTest, StayInMemoryWhereTheirFileIsCutOrRemoved) {
  counts_.of("/a").opens = 1;
  counts_.save(1);
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
  counts_.of("/a").opens = 2;
  counts_.save(2);
  EXPECT_EQ(saved().opens, 2);
  std::filesystem::remove_all(folder_);
  counts_.of("/a").opens = 3;
  counts_.save(3);
  counts_.end();
  EXPECT_EQ(counts_.all().front()->opens, 3);
}

TEST_F(RankCountsTest, OfMoreFilesThanAreSavedAreCounted) {
  for (size_t i = 0; i < kSavedFiles + 3; ++i) {
    counts_.of("/" + std::to_string(i)).opens = 1;
    counts_.save(1);
  }
  const auto left = read_counts(path_, "version");
  ASSERT_TRUE(left) << left.error().message();
  EXPECT_EQ(left->files.size(), kSavedFiles);
  EXPECT_EQ(left->files_lost, 3);
  EXPECT_EQ(counts_.all().size(), kSavedFiles + 3);
}

}  // namespace
}  // namespace tessera::telemetry
