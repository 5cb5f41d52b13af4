#include "bench/mesh_shares.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tessera::bench {
namespace {

constexpr mesh::GridSize kSmall = {6, 6, 6};

std::vector<int64_t> words_of_file(const std::string& path) {
  std::vector<int64_t> words(std::filesystem::file_size(path) / sizeof(int64_t));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(words.data()),
            static_cast<std::streamsize>(words.size() * sizeof(int64_t)));
  return words;
}

TEST(ShareWords, AreTheHeadAndEveryInterval) {
  owner::Writers writers(3);
  writers.append(4, 2);
  writers.append(1, 0);
  writers.append(5, 1);
  EXPECT_EQ(share_words(writers), (std::vector<int64_t>{3, 10, 3, 0, 4, 2, 4, 5, 0, 5, 10, 1}));
}

TEST(MeshShares, WritesAFileForEveryChoice) {
  const auto pool = std::make_shared<MpiPool>();
  MeshShares shares(pool, kSmall);
  for (const mesh::Order order : {mesh::Order::kRcm, mesh::Order::kFile}) {
    for (const owner::Policy policy : {owner::Policy::kHome, owner::Policy::kOptimal}) {
      const ShareChoice choice = {order, 4, policy};
      const auto workload = shares.workload(choice, 10);
      ASSERT_TRUE(workload) << workload.error().message();
      EXPECT_EQ(workload->name, "mesh");
      EXPECT_EQ(workload->args[1], 10);
      const auto writers = shares.writers(choice);
      ASSERT_TRUE(writers) << writers.error().message();
      EXPECT_EQ((*writers)->items(), kSmall.nodes());
      const std::string path = *pool->folder() + "/shares." + std::to_string(workload->args[0]) +
                               "." + std::to_string(workload->args[2]);
      EXPECT_EQ(words_of_file(path), share_words(**writers));
    }
  }
}

TEST(MeshShares, ChoicesOfOneMeshShareAFileAndNothingElseDoes) {
  MeshShares shares(std::make_shared<MpiPool>(), kSmall);
  const auto number = [&](const ShareChoice& choice) {
    return shares.workload(choice, 1).value().args[0];
  };
  using owner::Policy;
  EXPECT_EQ(number({mesh::Order::kRcm, 4, Policy::kHome}),
            number({mesh::Order::kRcm, 4, Policy::kIdg}));
  EXPECT_NE(number({mesh::Order::kRcm, 4, Policy::kHome}),
            number({mesh::Order::kFile, 4, Policy::kHome}));
  EXPECT_NE(number({mesh::Order::kRcm, 4, Policy::kHome}),
            number({mesh::Order::kRcm, 7, Policy::kHome}));
}

TEST(MeshShares, OptimalHasNoMoreIntervalsThanMetis) {
  MeshShares shares(std::make_shared<MpiPool>(), kSmall);
  const auto intervals = [&](owner::Policy policy) {
    return shares.writers({mesh::Order::kRcm, 4, policy}).value()->intervals().size();
  };
  EXPECT_LE(intervals(owner::Policy::kOptimal), intervals(owner::Policy::kHome));
}

TEST(MeshShares, MorePartsThanNodesIsAnError) {
  MeshShares shares(std::make_shared<MpiPool>(), kSmall);
  EXPECT_FALSE(shares.workload({mesh::Order::kRcm, 1000, owner::Policy::kHome}, 1));
}

}  // namespace
}  // namespace tessera::bench
