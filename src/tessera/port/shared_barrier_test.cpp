// The barrier itself, among threads, so that the thread sanitizer sees who synchronises with whom.
#include "tessera/port/shared_barrier.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tessera::port {
namespace {

using Outcome = SharedBarrier::Outcome;

void run_threads(int count, const std::function<void(int)>& main) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(main, i);
  for (std::thread& thread : threads) thread.join();
}

// Plain memory, written before and read after: any missing order is a race.
TEST(SharedBarrier, B1WritesBeforeAreSeenAfter) {
  using Patience = SharedBarrier::Patience;
  for (const Patience& patience :
       {Patience{}, Patience{20'000, false, {}}, Patience{20'000, true, {}}}) {
    constexpr int kThreads = 4;
    SharedBarrier barrier;
    std::vector<int> values(kThreads, -1);
    run_threads(kThreads, [&](int me) {
      for (int round = 0; round < 300; ++round) {
        values[static_cast<size_t>(me)] = round;
        ASSERT_EQ(barrier.wait(kThreads, patience), Outcome::kMet);
        for (const int value : values) ASSERT_EQ(value, round);
        ASSERT_EQ(barrier.wait(kThreads, patience), Outcome::kMet);
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
    EXPECT_EQ(barrier.wait(3, {}), Outcome::kBroken);
  });
  EXPECT_EQ(barrier.broken(), 7U);
  EXPECT_EQ(barrier.wait(1, {}), Outcome::kBroken);
}

TEST(SharedBarrier, B2AMeetingThatWasCompleteCountsAlsoWhenItIsBrokenAtOnce) {
  for (int round = 0; round < 300; ++round) {
    SharedBarrier barrier;
    run_threads(3, [&](int) {
      EXPECT_EQ(barrier.wait(3, {}), Outcome::kMet);
      barrier.break_up(1);
    });
  }
}

TEST(SharedBarrier, RanksWithoutACoreEachOfferTheirs) {
  EXPECT_FALSE(SharedBarrier::patience_for(1, {}).yields);
  EXPECT_TRUE(SharedBarrier::patience_for(1'000'000, {}).yields);
}

}  // namespace
}  // namespace tessera::port
