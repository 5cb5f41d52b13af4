#include "tessera/move/collective_choice.hpp"

#include <gtest/gtest.h>

namespace tessera::move {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;

Summary rank_of(Interval span, int64_t runs, int64_t bytes) {
  return {.failed = false,
          .span = span,
          .bytes = bytes,
          .runs = runs,
          .memory_runs = 0,
          .alone = {},
          .gapless = {},
          .pattern = {}};
}

Picture picture_of(const std::vector<Summary>& ranks, const Policy& policy = {}) {
  std::vector<base::Bytes> messages;
  for (const Summary& rank : ranks) messages.push_back(encode(rank, policy));
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

// Whoever has nothing to do says nothing, also not what counts for all.
TEST(CollectiveChoice, TheFirstRankWithSomethingToDoDecides) {
  Policy first;
  first.cores = 3;
  Policy second;
  second.cores = 5;
  const base::Bytes nothing = encode(rank_of({0, 0}, 0, 0), second);
  EXPECT_TRUE(nothing.empty());
  const Picture picture = move::picture_of({nothing, encode(rank_of({0, 5}, 1, 5), first),
                                            encode(rank_of({5, 9}, 1, 4), second)})
                              .value();
  EXPECT_EQ(picture.ranks.size(), 3U);
  EXPECT_EQ(picture.bytes, 9);
  EXPECT_EQ(picture.policy.cores, 3);
  EXPECT_EQ(move::picture_of({nothing, nothing}).value().bytes, 0);
}

TEST(CollectiveChoice, SummariesThatNoRankGivesAreRefused) {
  const auto refused = [](const Summary& summary) {
    return !move::picture_of({encode(summary, {})});
  };
  EXPECT_FALSE(refused(rank_of({0, 5}, 1, 5)));
  EXPECT_TRUE(refused(rank_of({-1, 5}, 1, 5)));
  EXPECT_TRUE(refused(rank_of({5, 0}, 1, 5)));
  EXPECT_TRUE(refused(rank_of({0, 5}, 1, 6)));
  EXPECT_TRUE(refused(rank_of({0, 5}, 6, 5)));
  base::Bytes cut = encode(rank_of({0, 5}, 1, 5), {});
  cut.pop_back();
  EXPECT_FALSE(move::picture_of({cut}));
}

TEST(CollectiveChoice, HintsDecide) {
  std::vector<Summary> fine = columns(4, 8);
  for (Summary& rank : fine) rank.gapless = {Engine::kList, 1e9, true};
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

// Rounds that fill 64 MB.
Schedule full_schedule() {
  Schedule schedule;
  for (int64_t i = 0; i < 16; ++i) {
    schedule.rounds.push_back({{4 * kMegabyte * i, 4 * kMegabyte * (i + 1)}, 4 * kMegabyte, false});
  }
  return schedule;
}

// The ranks ask so much for executing their moves alone.
std::vector<Summary> asking(std::vector<Summary> ranks, const Price& alone, const Price& gapless) {
  for (Summary& rank : ranks) {
    rank.alone = alone;
    rank.gapless = gapless;
  }
  return ranks;
}

Way way_of(const std::vector<Summary>& ranks, Direction direction) {
  Policy policy;
  policy.cores = 2;
  const Picture picture = picture_of(ranks, policy);
  const Way first = choose_way(picture, direction).way;
  return first == Way::kUndecided ? choose_way(picture, full_schedule(), direction).way : first;
}

TEST(CollectiveChoice, WhatTheRanksAskForDecides) {
  constexpr Price kCheap = {Engine::kMapped, 1e6, false};
  constexpr Price kDear = {Engine::kList, 1e9, true};
  const std::vector<Summary> fine = columns(4, 8);
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    EXPECT_EQ(way_of(asking(fine, kDear, kDear), direction), Way::kTogether);
    EXPECT_EQ(way_of(asking(fine, kCheap, kCheap), direction), Way::kSeparately);
  }
}

// What may be rewritten counts for writes of ranks that are among each other, not for reads.
TEST(CollectiveChoice, NoGapIsWrittenBackAmongOthers) {
  constexpr Price kCheap = {Engine::kSieve, 1e6, true};
  constexpr Price kDear = {Engine::kList, 1e9, true};
  const std::vector<Summary> fine = asking(columns(4, 8), kCheap, kDear);
  EXPECT_EQ(way_of(fine, Direction::kWrite), Way::kTogether);
  EXPECT_EQ(way_of(fine, Direction::kRead), Way::kSeparately);
  const std::vector<Summary> blocks = asking(columns(4, 16 * kMegabyte), kCheap, kDear);
  EXPECT_EQ(way_of(blocks, Direction::kWrite), Way::kSeparately);
}

// Writers by system calls wait for each other; those through mappings use all cores.
TEST(CollectiveChoice, TurnsAreAddedUp) {
  const std::vector<Summary> fine = columns(4, 8);
  const auto way = [&](bool takes_turns) {
    const Price price = {Engine::kList, 4e6, takes_turns};
    return way_of(asking(fine, price, price), Direction::kWrite);
  };
  EXPECT_EQ(way(true), Way::kTogether);
  EXPECT_EQ(way(false), Way::kSeparately);
}

// A few bytes at long distances: the windows would hold little but gaps.
TEST(CollectiveChoice, WindowsOfGapsAreNotWorthIt) {
  constexpr Price kPrice = {Engine::kList, 1e5, true};
  const std::vector<Summary> far =
      asking(std::vector<Summary>(4, rank_of({0, 64 * kMegabyte}, 100, 800)), kPrice, kPrice);
  Schedule sparse = full_schedule();
  for (Round& round : sparse.rounds) round.bytes = 200;
  EXPECT_EQ(choose_way(picture_of(far), sparse, Direction::kRead).way, Way::kSeparately);
}

}  // namespace
}  // namespace tessera::move
