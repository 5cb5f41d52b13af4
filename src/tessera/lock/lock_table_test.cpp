#include "tessera/lock/lock_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tessera/pattern/model_test_support.hpp"
#include "tessera/pattern/overlap.hpp"

namespace tessera::lock {
namespace {

using pattern::ByteSet;
using pattern::Pattern;
using pattern::model::Engine;
using pattern::model::uniform;
using Tickets = std::vector<Ticket>;

ByteSet run(int64_t begin, int64_t end) { return ByteSet::of({begin, end}).value(); }

ByteSet strided(int64_t at, int64_t length, int64_t stride, int64_t count) {
  return ByteSet::of_ascending(
      pattern::repeat(Pattern::run({{at}}, length).value(), count, {{stride}}).value());
}

// The rules of lock_table.hpp as they stand there, over sets of bytes.
class Model {
 public:
  LockState request(Ticket ticket, const Claim& claim) {
    entries_[ticket] = {claim.mode, pattern::model::bytes_of(claim.bytes), false};
    grant();
    return entries_[ticket].held ? LockState::kHeld : LockState::kWaiting;
  }
  Tickets remove(Ticket ticket) {
    entries_.erase(ticket);
    return grant();
  }
  [[nodiscard]] Ticket any(Engine& engine) const {
    auto at = entries_.begin();
    std::advance(at, uniform(engine, 0, std::ssize(entries_) - 1));
    return at->first;
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Mode mode;
    std::set<int64_t> bytes;
    bool held;
  };

  [[nodiscard]] bool waits(Ticket ticket, const Entry& entry) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& other) {
      if (other.first >= ticket || !conflict(other.second.mode, entry.mode)) return false;
      return std::any_of(entry.bytes.begin(), entry.bytes.end(),
                         [&](int64_t byte) { return other.second.bytes.contains(byte); });
    });
  }
  Tickets grant() {
    Tickets granted;
    for (auto& [ticket, entry] : entries_) {
      if (entry.held || waits(ticket, entry)) continue;
      entry.held = true;
      granted.push_back(ticket);
    }
    return granted;
  }

  std::map<Ticket, Entry> entries_;
};

class LockTableTest : public ::testing::TestWithParam<IndexKind> {
 protected:
  LockTable table_{make_index(GetParam(), 1)};
};

INSTANTIATE_TEST_SUITE_P(Kinds, LockTableTest,
                         ::testing::Values(IndexKind::kPatterns, IndexKind::kRuns,
                                           IndexKind::kBlocks));

TEST_P(LockTableTest, GrantsAsTheRulesSay) {
  Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(40); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    LockTable table(make_index(GetParam(), 1));
    Model model;
    Ticket next = 1;
    for (int step = 0; step < 80; ++step) {
      if (uniform(engine, 0, 1) == 0 || model.empty()) {
        const Claim claim = {pattern::model::random_set(engine),
                             uniform(engine, 0, 1) == 0 ? Mode::kShared : Mode::kExclusive};
        ASSERT_EQ(table.request(next, claim), model.request(next, claim));
        next += static_cast<Ticket>(uniform(engine, 1, 3));
      } else {
        // Releases and cancels alike.
        const Ticket ticket = model.any(engine);
        ASSERT_EQ(table.remove(ticket), model.remove(ticket));
      }
      table.check_invariants();
    }
    // Nobody starves: whoever waits is granted as those before it go.
    while (!model.empty()) {
      Ticket first = 0;
      table.for_each([&](Ticket ticket, const Claim&, LockState) {
        first = first == 0 ? ticket : std::min(first, ticket);
      });
      ASSERT_EQ(table.state(first), LockState::kHeld);
      ASSERT_EQ(table.remove(first), model.remove(first));
    }
    EXPECT_TRUE(table.empty());
  }
}

TEST_P(LockTableTest, InterleavedWritersHoldAtOnce) {
  for (int64_t rank = 0; rank < 16; ++rank) {
    EXPECT_EQ(table_.request(static_cast<Ticket>(rank + 1),
                             {strided(8 * rank, 8, 128, 1000), Mode::kExclusive}),
              LockState::kHeld);
  }
  EXPECT_EQ(table_.held(), 16U);
  EXPECT_EQ(table_.request(20, {run(0, 128'000), Mode::kShared}), LockState::kWaiting);
  EXPECT_EQ(table_.waits_for(20), 16);
  for (Ticket ticket = 16; ticket > 1; --ticket) EXPECT_EQ(table_.remove(ticket), Tickets());
  EXPECT_EQ(table_.remove(1), Tickets{20});
}

// (L3): a later request passes one that waits, unless they conflict.
TEST_P(LockTableTest, L3WhoDoesNotConflictPasses) {
  EXPECT_EQ(table_.request(1, {run(0, 10), Mode::kShared}), LockState::kHeld);
  EXPECT_EQ(table_.request(2, {run(5, 20), Mode::kExclusive}), LockState::kWaiting);
  EXPECT_EQ(table_.request(3, {run(0, 5), Mode::kShared}), LockState::kHeld);
  EXPECT_EQ(table_.request(4, {run(20, 30), Mode::kExclusive}), LockState::kHeld);
  // A reader could be granted beside the other readers, but the writer came first.
  EXPECT_EQ(table_.request(5, {run(0, 10), Mode::kShared}), LockState::kWaiting);
  EXPECT_EQ(table_.remove(1), Tickets{2});
  EXPECT_EQ(table_.remove(2), Tickets{5});
}

// (L5): each is answered once, whoever asks, and only those that are waited for.
TEST_P(LockTableTest, L5TellsWhichLocksToRecall) {
  Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(40); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    LockTable table(make_index(GetParam(), 1));
    std::map<Ticket, Claim> open;  // recallable ones that were not answered
    std::map<Ticket, Claim> claims;
    for (Ticket next = 1; next <= 60; ++next) {
      const Claim claim = {pattern::model::random_set(engine),
                           uniform(engine, 0, 1) == 0 ? Mode::kShared : Mode::kExclusive};
      const bool recallable = uniform(engine, 0, 2) == 0;
      if (table.request(next, claim, recallable) == LockState::kWaiting) {
        Tickets expected;
        for (const auto& [ticket, other] : open) {
          if (conflict(claim.mode, other.mode) && overlaps(claim.bytes, other.bytes).value()) {
            expected.push_back(ticket);
          }
        }
        Tickets told = table.recalls_of(next);
        std::sort(told.begin(), told.end());
        ASSERT_EQ(told, expected);
        for (const Ticket ticket : told) open.erase(ticket);
        ASSERT_EQ(table.recalls_of(next), Tickets());
      }
      if (recallable) open.emplace(next, claim);
      claims.emplace(next, claim);
      if (uniform(engine, 0, 1) == 0) {
        auto gone = claims.begin();
        std::advance(gone, uniform(engine, 0, std::ssize(claims) - 1));
        static_cast<void>(table.remove(gone->first));
        open.erase(gone->first);
        claims.erase(gone);
      }
      table.check_invariants();
    }
  }
}

TEST_P(LockTableTest, OneThatGivesUpLetsOthersPass) {
  EXPECT_EQ(table_.request(1, {run(0, 10), Mode::kExclusive}), LockState::kHeld);
  EXPECT_EQ(table_.request(2, {run(5, 20), Mode::kExclusive}), LockState::kWaiting);
  EXPECT_EQ(table_.request(3, {run(15, 30), Mode::kExclusive}), LockState::kWaiting);
  EXPECT_EQ(table_.request(4, {run(0, 30), Mode::kExclusive}), LockState::kWaiting);
  EXPECT_EQ(table_.remove(2), Tickets{3});
  EXPECT_EQ(table_.waits_for(4), 3);
  EXPECT_EQ(table_.remove(3), Tickets());
  EXPECT_EQ(table_.waits_for(4), 1);
  EXPECT_EQ(table_.remove(1), Tickets{4});
}

TEST_P(LockTableTest, WhatWasHeldIsRestoredAndNothingElse) {
  EXPECT_TRUE(table_.restore(7, {run(0, 10), Mode::kExclusive}));
  EXPECT_TRUE(table_.restore(5, {run(10, 20), Mode::kExclusive}));
  EXPECT_EQ(table_.restore(9, {run(15, 30), Mode::kShared}).error().code, base::Code::kInvalid);
  EXPECT_EQ(table_.held(), 2U);
  EXPECT_EQ(table_.request(8, {run(15, 30), Mode::kShared}), LockState::kWaiting);
  EXPECT_EQ(table_.remove(5), Tickets{8});
  table_.check_invariants();
}

// A queue for the whole file moves on one by one, without a look at all who wait.
TEST_P(LockTableTest, ALongQueueMovesOn) {
  constexpr Ticket kWaiters = 20'000;
  for (Ticket ticket = 1; ticket <= kWaiters; ++ticket) {
    static_cast<void>(table_.request(ticket, {run(0, 1000), Mode::kExclusive}));
  }
  EXPECT_EQ(table_.held(), 1U);
  for (Ticket ticket = 1; ticket < kWaiters; ++ticket) {
    ASSERT_EQ(table_.remove(ticket), Tickets{ticket + 1});
  }
}

}  // namespace
}  // namespace tessera::lock
