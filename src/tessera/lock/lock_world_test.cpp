// The lock service in a simulated world (lock_world_test_support.hpp).
//
// Nobody may write under the lock of another, and in the end everybody who asked is served. Every
// control takes one protection away, and must fail.
#include "tessera/lock/lock_world_test_support.hpp"

#include <gtest/gtest.h>

namespace tessera::lock::world {
namespace {

TEST(LockWorld, NobodyWritesUnderTheLockOfAnother) {
  const int worlds = pattern::model::rounds(60);
  const Score score = run_worlds({}, worlds);
  EXPECT_EQ(score.violations, 0);
  EXPECT_GT(score.written, 10 * worlds);
  EXPECT_GT(score.refused, 0);
  EXPECT_GT(score.lost, 0);
  EXPECT_GT(score.reused, worlds);
  EXPECT_GT(score.recalled, worlds);
}

// (S5): behind at most three others, each of which writes at most once more.
TEST(LockWorld, WhoWaitsForALockThatIsKeptWaitsNotLong) {
  Weather weather = fair_weather();
  weather.loses_frames = false;
  const Score smooth = run_worlds(weather, pattern::model::rounds(30));
  EXPECT_GT(smooth.recalled, 0);
  EXPECT_EQ(smooth.lost, 0);
  EXPECT_LT(smooth.wait_ns_max, 3 * (2 * kWriteNsMax + 6 * kTickNs));
  // A frame that is lost costs a renewal.
  weather.loses_frames = true;
  EXPECT_LT(run_worlds(weather, pattern::model::rounds(30)).wait_ns_max, 5 * kLeaseNs);
}

TEST(LockWorld, ControlWithoutRecallsSomebodyWaitsForEver) {
  Weather weather = fair_weather();
  weather.recalls = false;
  EXPECT_FALSE(run_worlds(weather, 3).all_served);
}

TEST(LockWorld, ControlWhoIgnoresRecallsLetsOthersWaitForEver) {
  Weather weather = fair_weather();
  weather.heeds = false;
  EXPECT_FALSE(run_worlds(weather, 3).all_served);
}

// Without fences the lease alone must do; it does as long as nobody is frozen.
TEST(LockWorld, LeasesAreEnoughWhereNobodyFreezes) {
  Weather weather;
  weather.freezes = false;
  weather.fences = false;
  const Score score = run_worlds(weather, pattern::model::rounds(60));
  EXPECT_EQ(score.violations, 0);
  EXPECT_GT(score.written, 0);
}

TEST(LockWorld, ControlWithoutFencesLateWritesGetThrough) {
  Weather weather;
  weather.fences = false;
  EXPECT_GT(run_worlds(weather, 30).violations, 0);
}

TEST(LockWorld, ControlWithoutGraceARestartForgetsWhoHasWhat) {
  Weather weather;
  weather.freezes = weather.deaths = weather.cuts = false;
  weather.grace = false;
  weather.fences = false;
  EXPECT_GT(run_worlds(weather, 60).violations, 0);
}

TEST(LockWorld, ControlWithoutALookAtTheLeaseWritesComeLate) {
  Weather weather;
  weather.freezes = false;
  weather.fences = false;
  weather.checks_lease = false;
  EXPECT_GT(run_worlds(weather, 200).violations, 0);
}

TEST(LockWorld, TheSameSeedIsTheSameWorld) {
  const auto digest = [](uint64_t seed) {
    World world({}, seed);
    static_cast<void>(world.run(5 * kLeaseNs));
    return world.network.trace_digest();
  };
  EXPECT_EQ(digest(7), digest(7));
  EXPECT_NE(digest(7), digest(8));
}

}  // namespace
}  // namespace tessera::lock::world
