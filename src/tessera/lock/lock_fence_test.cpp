// Late writes in a simulated world (lock_world_test_support.hpp).
//
// Clients are stopped in the middle of a write for longer than their lease, go on, and their writes
// reach the store when the lock is long over: a store that can fence refuses every one of them,
// whether or not others have the bytes by then ((S2), (S4), (C4)). In the control it cannot fence,
// and they get in.
#include <gtest/gtest.h>

#include <cstdio>

#include "tessera/lock/lock_world_test_support.hpp"

namespace tessera::lock::world {
namespace {

// Every second write is late, on top of everything else that goes wrong.
Weather sleepy_weather() {
  Weather weather;
  weather.late_one_in = 2;
  return weather;
}

// Runs worlds until so many writes have met bytes that others had, in at most so many worlds.
Score run_until_overtaken(const Weather& weather, int64_t wanted) {
  Score sum;
  const uint64_t seed = pattern::model::seed();
  for (int64_t i = 0; i < 10 * wanted && sum.overtaken < wanted; ++i) {
    const uint64_t now = seed + static_cast<uint64_t>(i);
    const Score score = World(weather, now).run(20 * kLeaseNs);
    EXPECT_TRUE(score.all_served) << "TESSERA_SEED=" << now;
    EXPECT_EQ(score.late_refused, weather.fences ? score.late : 0) << "TESSERA_SEED=" << now;
    sum.late += score.late;
    sum.overtaken += score.overtaken;
    sum.late_refused += score.late_refused;
    sum.violations += score.violations;
    sum.written += score.written;
  }
  return sum;
}

TEST(LockFence, AStaleHolderThatWakesUpCannotWrite) {
  const int64_t wanted = pattern::model::rounds(100);
  const Score score = run_until_overtaken(sleepy_weather(), wanted);
  EXPECT_GE(score.overtaken, wanted);
  EXPECT_GE(score.late, score.overtaken);
  EXPECT_EQ(score.late_refused, score.late);
  EXPECT_EQ(score.violations, 0);
  std::printf("%lld late writes, %lld of them to bytes of others; %lld refused\n",
              static_cast<long long>(score.late), static_cast<long long>(score.overtaken),
              static_cast<long long>(score.late_refused));
  EXPECT_GT(score.written, 0);
}

TEST(LockFence, ControlAStoreThatCannotFenceTakesEveryLateWrite) {
  Weather weather = sleepy_weather();
  weather.fences = false;
  const Score score = run_until_overtaken(weather, 100);
  EXPECT_GE(score.overtaken, 100);
  EXPECT_EQ(score.late_refused, 0);
  EXPECT_GE(score.violations, score.overtaken);
}

}  // namespace
}  // namespace tessera::lock::world
