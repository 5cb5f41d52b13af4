// The barrier itself, among threads, so that the thread sanitizer sees who synchronises with whom.
#include "tessera/port/shared_barrier.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tessera::port {
namespace {

using Outcome = SharedBarrier::Outcome;
using WaitPolicy = SharedBarrier::WaitPolicy;

void run_threads(int count, const std::function<void(int)>& main) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(main, i);
  for (std::thread& thread : threads) thread.join();
}

// Plain memory, written before and read after: any missing order is a race.
TEST(SharedBarrier, B1WritesBeforeAreSeenAfter) {
  for (const WaitPolicy& policy :
       {WaitPolicy{}, WaitPolicy{20'000, 20'000, {}}, WaitPolicy{0, 20'000, {}}}) {
    constexpr int kThreads = 4;
    SharedBarrier barrier;
    std::vector<int> values(kThreads, -1);
    run_threads(kThreads, [&](int me) {
      uint64_t round = 0;
      for (int turn = 0; turn < 300; ++turn) {
        values[static_cast<size_t>(me)] = turn;
        ASSERT_EQ(barrier.wait({round++}, kThreads, policy), Outcome::kMet);
        for (const int value : values) ASSERT_EQ(value, turn);
        ASSERT_EQ(barrier.wait({round++}, kThreads, policy), Outcome::kMet);
      }
    });
  }
}

TEST(SharedBarrier, B2ABrokenBarrierHoldsNobody) {
  SharedBarrier barrier;
  EXPECT_EQ(barrier.broken(), 0U);
  run_threads(3, [&](int me) {
    if (me == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      barrier.break_up(7);
      barrier.break_up(8);
      return;
    }
    EXPECT_EQ(barrier.wait({0}, 3, {}), Outcome::kBroken);
  });
  EXPECT_EQ(barrier.broken(), 7U);
  EXPECT_EQ(barrier.wait({1}, 3, {}), Outcome::kBroken);
}

TEST(SharedBarrier, B2AMeetingThatWasCompleteCountsAlsoWhenItIsBrokenAtOnce) {
  for (int round = 0; round < 300; ++round) {
    SharedBarrier barrier;
    run_threads(3, [&](int) {
      EXPECT_EQ(barrier.wait({0}, 3, {}), Outcome::kMet);
      barrier.break_up(1);
    });
  }
}

// Which rank brings a payload, if any does, changes from round to round.
TEST(SharedBarrier, B3ThereIsNoPayloadIfNoRankHasOne) {
  constexpr uint64_t kThreads = 3;
  SharedBarrier barrier;
  run_threads(kThreads, [&](int me) {
    for (uint64_t round = 0; round < 2000; ++round) {
      const uint64_t giver = round * round % 7;
      const bool gives = giver == static_cast<uint64_t>(me);
      ASSERT_EQ(barrier.wait({round, gives}, kThreads, {}),
                giver < kThreads ? Outcome::kMet : Outcome::kMetWithoutPayload);
    }
  });
}

// Counts go around at 2^32, also where that is no multiple of the ranks.
TEST(SharedBarrier, MoreRoundsThanCountsCanTell) {
  constexpr uint64_t kBefore = (uint64_t{1} << 32) / 3 - 2;
  SharedBarrier barrier(kBefore, 3);
  run_threads(3, [&](int) {
    for (uint64_t round = kBefore; round < kBefore + 8; ++round) {
      ASSERT_EQ(barrier.wait({round}, 3, {}), Outcome::kMet);
    }
  });
}

TEST(SharedBarrier, RanksWithoutACoreEachDoNotSpin) {
  EXPECT_GT(SharedBarrier::policy_for(1, {}).spin_ns, 0);
  EXPECT_EQ(SharedBarrier::policy_for(1'000'000, {}).spin_ns, 0);
  EXPECT_GT(SharedBarrier::policy_for(1'000'000, {}).awake_ns, 0);
}

}  // namespace
}  // namespace tessera::port
