#include "tessera/move/collective_choice.hpp"

#include <gtest/gtest.h>

namespace tessera::move {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;

Summary rank_of(Interval span, int64_t runs, int64_t bytes) {
  return {.failed = false, .span = span, .bytes = bytes, .runs = runs, .pattern = {}};
}

Picture picture_of(const std::vector<Summary>& ranks, const Policy& policy = {}) {
  std::vector<base::Bytes> messages;
  for (const Summary& rank : ranks) messages.push_back(encode_summary(rank));
  append_policy(messages[0], policy);
  return move::picture_of(messages).value();
}

// Ranks that write columns of one array of 64 MB.
std::vector<Summary> columns(int ranks, int64_t run) {
  const int64_t each = 64 * kMegabyte / ranks;
  std::vector<Summary> all;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    all.push_back(
        rank_of({rank * run, 64 * kMegabyte - (ranks - 1 - rank) * run}, each / run, each));
  }
  return all;
}

TEST(CollectiveChoice, APictureAddsUpWhatTheRanksSay) {
  Summary failed = rank_of({0, 0}, 0, 0);
  failed.failed = true;
  Policy policy;
  policy.cores = 3;
  policy.cb_buffer_size = 77;
  const Picture picture = picture_of(
      {rank_of({10, 20}, 2, 6), failed, rank_of({15, 30}, 1, 15), rank_of({40, 50}, 1, 10)},
      policy);
  EXPECT_TRUE(picture.failed);
  EXPECT_EQ(picture.span, (Interval{10, 50}));
  EXPECT_EQ(picture.covered, 30);
  EXPECT_EQ(picture.bytes, 31);
  EXPECT_EQ(picture.runs, 4);
  EXPECT_FALSE(picture.spans_disjoint);
  EXPECT_EQ(picture.policy.cores, 3);
  EXPECT_EQ(picture.policy.cb_buffer_size, 77);
  EXPECT_TRUE(picture_of({rank_of({0, 5}, 1, 5), rank_of({5, 7}, 1, 2)}).spans_disjoint);
}

TEST(CollectiveChoice, SummariesThatNoRankGivesAreRefused) {
  const auto refused = [](const Summary& summary) {
    std::vector<base::Bytes> messages = {encode_summary(summary)};
    append_policy(messages[0], {});
    return !move::picture_of(messages);
  };
  EXPECT_FALSE(refused(rank_of({0, 5}, 1, 5)));
  EXPECT_TRUE(refused(rank_of({-1, 5}, 1, 5)));
  EXPECT_TRUE(refused(rank_of({5, 0}, 1, 5)));
  EXPECT_TRUE(refused(rank_of({0, 5}, 1, 6)));
  EXPECT_TRUE(refused(rank_of({0, 5}, 6, 5)));
  EXPECT_FALSE(move::picture_of({encode_summary(rank_of({0, 5}, 1, 5))}));  // no policy
}

TEST(CollectiveChoice, HintsDecide) {
  const std::vector<Summary> fine = columns(4, 8);
  const auto way = [&](Toggle buffering, CollectiveHint collective) {
    Policy policy;
    policy.buffering = buffering;
    policy.collective = collective;
    return choose_way(picture_of(fine, policy), Direction::kWrite).way;
  };
  EXPECT_EQ(way(Toggle::kAutomatic, CollectiveHint::kIndependent), Way::kSeparately);
  EXPECT_EQ(way(Toggle::kDisable, CollectiveHint::kAutomatic), Way::kSeparately);
  EXPECT_EQ(way(Toggle::kEnable, CollectiveHint::kAutomatic), Way::kTogether);
  EXPECT_EQ(way(Toggle::kAutomatic, CollectiveHint::kWindow), Way::kTogether);
  EXPECT_EQ(way(Toggle::kAutomatic, CollectiveHint::kAutomatic), Way::kUndecided);
}

// Fine columns go together, whole blocks and small writes apart.
TEST(CollectiveChoice, CostsDecide) {
  Schedule schedule;
  for (int64_t i = 0; i < 16; ++i) {
    schedule.rounds.push_back({{4 * kMegabyte * i, 4 * kMegabyte * (i + 1)}, 4 * kMegabyte, false});
  }
  for (const bool mappable : {false, true}) {
    Policy policy;
    policy.cores = 2;
    policy.mappable = mappable;
    const Picture fine = picture_of(columns(4, 8), policy);
    EXPECT_EQ(choose_way(fine, schedule, Direction::kWrite).way, Way::kTogether);
    const Picture blocks = picture_of(columns(4, 16 * kMegabyte), policy);
    EXPECT_EQ(choose_way(blocks, Direction::kWrite).way, Way::kSeparately);
    EXPECT_EQ(choose_way(blocks, Direction::kRead).way, Way::kSeparately);
    const Picture small = picture_of({rank_of({0, 4096}, 1, 4096), rank_of({4096, 8192}, 1, 4096)});
    EXPECT_EQ(choose_way(small, Direction::kWrite).way, Way::kSeparately);
    // A few bytes at long distances: the windows would hold little but gaps.
    std::vector<Summary> far(4, rank_of({0, 64 * kMegabyte}, 100, 800));
    Schedule sparse = schedule;
    for (Round& round : sparse.rounds) round.bytes = 200;
    EXPECT_EQ(choose_way(picture_of(far, policy), sparse, Direction::kRead).way, Way::kSeparately);
  }
}

}  // namespace
}  // namespace tessera::move
