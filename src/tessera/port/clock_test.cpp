#include "tessera/port/clock.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tessera/port/posix_clock.hpp"
#include "tessera/port/sim_clock.hpp"

namespace tessera::port {
namespace {

TEST(PosixClock, SleepEndsAtItsDeadlineOrLater) {
  PosixClock clock;
  const int64_t start = clock.now_ns();
  clock.sleep_until(start + 2'000'000);
  EXPECT_GE(clock.now_ns(), start + 2'000'000);
  clock.sleep_until(start);
  clock.sleep_until(-5);
  EXPECT_LT(clock.now_ns(), start + 2'000'000'000);
}

TEST(SimClock, K1TimeChangesOnlyWhenTold) {
  SimClock clock;
  EXPECT_EQ(clock.now_ns(), 0);
  clock.sleep_until(100);
  EXPECT_EQ(clock.now_ns(), 100);
  clock.sleep_until(50);
  EXPECT_EQ(clock.now_ns(), 100);
  clock.advance_by(7);
  EXPECT_EQ(clock.now_ns(), 107);
  clock.set_timer(200, [] {});
  EXPECT_EQ(clock.now_ns(), 107);
}

TEST(SimClock, K2TimersRunOnceAtTheirDeadlineUnlessCancelled) {
  SimClock clock;
  std::vector<int64_t> runs;
  const auto note = [&] { runs.push_back(clock.now_ns()); };
  clock.set_timer(30, note);
  const auto cancelled = clock.set_timer(20, note);
  clock.set_timer(40, note);
  EXPECT_TRUE(clock.cancel(cancelled));
  EXPECT_FALSE(clock.cancel(cancelled));
  clock.advance_by(35);
  EXPECT_EQ(runs, (std::vector<int64_t>{30}));
  EXPECT_TRUE(clock.run_next());
  EXPECT_FALSE(clock.run_next());
  EXPECT_EQ(runs, (std::vector<int64_t>{30, 40}));
}

TEST(SimClock, K3EqualDeadlinesRunInTheOrderTheyWereSet) {
  SimClock clock;
  std::vector<int> runs;
  for (int i = 0; i < 5; ++i) clock.set_timer(10, [&runs, i] { runs.push_back(i); });
  clock.set_timer(5, [&runs] { runs.push_back(-1); });
  clock.advance_by(10);
  EXPECT_EQ(runs, (std::vector<int>{-1, 0, 1, 2, 3, 4}));
}

TEST(SimClock, TimersMaySetTimersAndSleep) {
  SimClock clock;
  std::vector<int64_t> runs;
  clock.set_timer(10, [&] {
    clock.set_timer(0, [&] { runs.push_back(clock.now_ns()); });
    clock.set_timer(15, [&] { runs.push_back(clock.now_ns()); });
    clock.sleep_until(50);
  });
  clock.advance_by(20);
  EXPECT_EQ(runs, (std::vector<int64_t>{10, 15}));
  EXPECT_EQ(clock.now_ns(), 50);
}

TEST(SimClock, RunNextUntilStopsBeforeLaterTimers) {
  SimClock clock;
  clock.set_timer(10, [] {});
  EXPECT_FALSE(clock.run_next_until(9));
  EXPECT_EQ(clock.now_ns(), 0);
  EXPECT_TRUE(clock.run_next_until(10));
  EXPECT_EQ(clock.timer_count(), 0U);
}

}  // namespace
}  // namespace tessera::port
