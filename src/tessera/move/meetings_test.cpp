#include "tessera/move/meetings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "tessera/move/test_moves.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::move {
namespace {

using base::Code;
using base::Result;

Result<void> disk_is_full() { return base::fail(Code::kFailed, "the disk is full"); }

// One access as one rank makes it.
struct Step {
  bool safe = true;
  bool fails = false;
  bool speaks = false;  // in the meeting, if there is one
};

// One access of all ranks.
struct Round {
  Direction direction = Direction::kWrite;
  bool may_leave_out = true;
  std::vector<Step> ranks;
};

// What a rank saw of one.
struct Seen {
  bool met = false;
  bool succeeded = true;
};

Seen make_access(Meetings& meetings, const Round& round, port::Exchange& exchange) {
  const Step& step = round.ranks[static_cast<size_t>(exchange.rank())];
  const Result<void> mine = step.fails ? disk_is_full() : Result<void>();
  if (!meetings.begin(round.direction, round.may_leave_out, exchange)) {
    return {false, meetings.leave_out(mine, step.safe).has_value()};
  }
  const bool silent = !step.speaks && !step.fails;
  const auto heard = silent ? exchange.listen() : exchange.all_gather(base::Bytes(1));
  if (heard->empty()) meetings.note_silence();
  const Result<void> verdict = heard->empty() ? Result<void>() : exchange.agree(mine);
  return {true, meetings.conclude(verdict, step.safe).has_value()};
}

// Plays the rounds; by round and rank.
std::vector<std::vector<Seen>> play(const std::vector<Round>& rounds, int ranks) {
  std::vector<std::vector<Seen>> seen(rounds.size(), std::vector<Seen>(static_cast<size_t>(ranks)));
  port::run_ranks(ranks, [&](port::Exchange& exchange) {
    Meetings meetings;
    for (size_t i = 0; i < rounds.size(); ++i) {
      seen[i][static_cast<size_t>(exchange.rank())] = make_access(meetings, rounds[i], exchange);
    }
  });
  return seen;
}

Round quiet_round(int ranks, Direction direction = Direction::kWrite) {
  return {direction, true, std::vector<Step>(static_cast<size_t>(ranks))};
}

int count_met(const std::vector<std::vector<Seen>>& seen, size_t begin, size_t end) {
  int met = 0;
  for (size_t i = begin; i < end; ++i) met += seen[i][0].met ? 1 : 0;
  return met;
}

TEST(Meetings, AreLeftOutAfterSomeInSilence) {
  const auto seen = play(std::vector<Round>(500, quiet_round(3)), 3);
  constexpr size_t kStart = Meetings::kSilentMin;
  EXPECT_EQ(count_met(seen, 0, kStart), Meetings::kSilentMin);
  EXPECT_EQ(count_met(seen, kStart, seen.size()), 0);
}

TEST(Meetings, AreHeldWhereOneRankObjects) {
  std::vector<Round> unsafe(500, quiet_round(3));
  std::vector<Round> spoken = unsafe;
  std::vector<Round> forbidden = unsafe;
  for (Round& round : unsafe) round.ranks[1].safe = false;
  for (Round& round : spoken) round.ranks[2].speaks = true;
  for (Round& round : forbidden) round.may_leave_out = false;
  for (const auto& rounds : {unsafe, spoken, forbidden}) {
    EXPECT_EQ(count_met(play(rounds, 3), 0, rounds.size()), 500);
  }
}

TEST(Meetings, AreHeldAgainAfterAFailure) {
  std::vector<Round> rounds(60, quiet_round(2));
  rounds[10].ranks[1].fails = true;
  const auto seen = play(rounds, 2);
  EXPECT_FALSE(seen[10][0].met);
  size_t reported = 10;
  while (reported < rounds.size() && seen[reported][0].succeeded) ++reported;
  ASSERT_LT(reported, rounds.size());
  EXPECT_TRUE(seen[reported][0].met);
  EXPECT_LE(reported, 10 + size_t{Meetings::kLeftOutMax});
  EXPECT_TRUE(seen[reported + 1][0].met);
}

// (L2) for calls that ask for the rest.
TEST(Meetings, TakeGivesWhatNobodyWasTold) {
  port::run_ranks(2, [](port::Exchange& exchange) {
    Meetings meetings;
    Round round = quiet_round(2);
    while (make_access(meetings, round, exchange).met) continue;
    round.ranks[1].fails = true;
    EXPECT_TRUE(make_access(meetings, round, exchange).succeeded);
    const Result<void> mine = meetings.take();
    EXPECT_EQ(mine.has_value(), exchange.rank() == 0);
    if (!mine) {
      EXPECT_EQ(mine.error().message(), "an earlier collective access failed: the disk is full");
    }
    EXPECT_TRUE(meetings.take());
    EXPECT_TRUE(make_access(meetings, quiet_round(2), exchange).met);
  });
}

TEST(Meetings, ReadsSayAtOnceWhatFailed) {
  std::vector<Round> rounds(60, quiet_round(2, Direction::kRead));
  rounds[10].ranks[1].fails = true;
  const auto seen = play(rounds, 2);
  EXPECT_FALSE(seen[10][0].met);
  EXPECT_TRUE(seen[10][0].succeeded);
  EXPECT_FALSE(seen[10][1].succeeded);
  bool told = false;
  for (size_t i = 11; i < rounds.size(); ++i) told = told || !seen[i][0].succeeded;
  EXPECT_TRUE(told);
}

Round random_round(model::Chance& chance, int ranks, Direction direction) {
  const auto one_in = [&](int64_t many) { return model::random::uniform(chance, 1, many) == 1; };
  Round round = quiet_round(ranks, direction);
  round.may_leave_out = !one_in(60);
  for (Step& step : round.ranks) step = {!one_in(40), one_in(150), one_in(120)};
  return round;
}

std::vector<Round> random_rounds(model::Chance& chance, int ranks) {
  std::vector<Round> rounds;
  Direction direction = Direction::kWrite;
  for (int i = 0; i < 300; ++i) {
    if (model::random::uniform(chance, 1, 50) == 1) {
      direction = direction == Direction::kWrite ? Direction::kRead : Direction::kWrite;
    }
    rounds.push_back(random_round(chance, ranks, direction));
  }
  return rounds;
}

bool any_fails(const Round& round) {
  return std::any_of(round.ranks.begin(), round.ranks.end(),
                     [](const Step& step) { return step.fails; });
}

// (L1), (L2) and (L4), from what the ranks saw.
void expect_told_alike(const std::vector<Round>& rounds,
                       const std::vector<std::vector<Seen>>& seen) {
  bool owed = false;  // a failure that not all ranks know of
  int owed_for = 0;
  for (size_t i = 0; i < rounds.size(); ++i) {
    const bool met = seen[i][0].met;
    if (met) owed = owed || any_fails(rounds[i]);
    for (size_t rank = 0; rank < seen[i].size(); ++rank) {
      ASSERT_EQ(seen[i][rank].met, met) << "round " << i;
      const bool at_once =
          rounds[i].ranks[rank].fails && rounds[i].direction == Direction::kRead && !met;
      ASSERT_EQ(seen[i][rank].succeeded, !(met ? owed : at_once))
          << "round " << i << ", rank " << rank << (met ? ", met" : "");
    }
    owed = met ? false : owed || any_fails(rounds[i]);
    owed_for = owed ? owed_for + 1 : 0;
    ASSERT_LE(owed_for, Meetings::kLeftOutMax);
  }
}

TEST(Meetings, RanksAreToldAlikeWhateverHappens) {
  model::Chance chance(port::test_seed());
  for (int game = 0; game < 150; ++game) {
    const auto ranks = static_cast<int>(model::random::uniform(chance, 1, 4));
    const std::vector<Round> rounds = random_rounds(chance, ranks);
    expect_told_alike(rounds, play(rounds, ranks));
    if (HasFatalFailure()) return;
  }
}

// (L3): what a rank wrote without a meeting is seen by all who read after it, and what they read
// then is not what is written later.
TEST(Meetings, DirectionsDoNotMix) {
  constexpr int kRanks = 3;
  model::Chance chance(port::test_seed());
  std::vector<std::atomic<int>> values(kRanks);
  std::vector<int> lengths;
  for (int i = 0; i < 60; ++i) {
    lengths.push_back(static_cast<int>(model::random::uniform(chance, 1, 40)));
  }
  port::run_ranks(kRanks, [&](port::Exchange& exchange) {
    Meetings meetings;
    std::atomic<int>& mine = values[static_cast<size_t>(exchange.rank())];
    for (size_t phase = 0; phase < lengths.size(); ++phase) {
      const bool writes = phase % 2 == 0;
      for (int i = 0; i < lengths[phase]; ++i) {
        const Round round = quiet_round(kRanks, writes ? Direction::kWrite : Direction::kRead);
        const bool meets = meetings.begin(round.direction, true, exchange);
        if (writes) mine = static_cast<int>(phase);
        for (const auto& value : values) {
          EXPECT_TRUE(writes || value == static_cast<int>(phase) - 1);
        }
        if (!meets) {
          EXPECT_TRUE(meetings.leave_out({}, true));
          continue;
        }
        EXPECT_TRUE(exchange.listen()->empty());
        meetings.note_silence();
        EXPECT_TRUE(meetings.conclude({}, true));
      }
    }
  });
}

}  // namespace
}  // namespace tessera::move
