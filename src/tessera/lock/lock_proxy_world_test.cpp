// The lock service with a proxy on each of two nodes, in a simulated world
// (lock_world_test_support.hpp).
//
// What holds for clients of a server holds for those of proxies. Every control takes one rule of
// lock_proxy.hpp away, and must fail.
#include <gtest/gtest.h>

#include "tessera/lock/lock_world_test_support.hpp"

namespace tessera::lock::world {
namespace {

Weather with_proxies(Weather weather) {
  weather.proxies = true;
  return weather;
}

TEST(LockProxyWorld, NobodyWritesUnderTheLockOfAnother) {
  const int worlds = pattern::model::rounds(60);
  const Score score = run_worlds(with_proxies({}), worlds);
  EXPECT_EQ(score.violations, 0);
  EXPECT_GT(score.written, 10 * worlds);
  EXPECT_GT(score.refused, 0);
  EXPECT_GT(score.lost, 0);
  EXPECT_GT(score.delegations, worlds);
  EXPECT_GT(score.returned, worlds);
  EXPECT_GT(score.passed, worlds);
}

// (Y2): also what a proxy promises ends before the lease that it has itself.
TEST(LockProxyWorld, Y2LeasesAreEnoughWhereNobodyFreezes) {
  Weather weather = with_proxies({});
  weather.freezes = false;
  weather.fences = false;
  const Score score = run_worlds(weather, pattern::model::rounds(60));
  EXPECT_EQ(score.violations, 0);
  EXPECT_GT(score.written, 0);
}

TEST(LockProxyWorld, Y2ControlAProxyThatPromisesMoreThanItHas) {
  Weather weather = with_proxies({});
  weather.freezes = false;
  weather.fences = false;
  weather.honest = false;
  EXPECT_GT(run_worlds(weather, 60).violations, 0);
}

// (Y3): a delegation comes back when the locks under it do.
TEST(LockProxyWorld, Y3WhoWaitsForAnotherNodeWaitsNotLong) {
  Weather weather = with_proxies(fair_weather());
  weather.loses_frames = false;
  const Score smooth = run_worlds(weather, pattern::model::rounds(30));
  EXPECT_GT(smooth.returned, 0);
  EXPECT_EQ(smooth.lost, 0);
  EXPECT_LT(smooth.wait_ns_max, 5 * (2 * kWriteNsMax + 12 * kTickNs));
}

TEST(LockProxyWorld, Y3ControlAProxyThatHearsNoRecallKeepsTheFile) {
  Weather weather = with_proxies(fair_weather());
  weather.recalls = false;
  EXPECT_FALSE(run_worlds(weather, 3).all_served);
}

TEST(LockProxyWorld, Y3ControlADelegationGivenBackBeforeItIsDrained) {
  Weather weather = with_proxies(fair_weather());
  weather.loses_frames = false;
  weather.drains = false;
  EXPECT_GT(run_worlds(weather, 10).violations, 0);
}

// (Y5)
TEST(LockProxyWorld, Y5ControlWritesThatDoNotNameTheProxyComeLate) {
  Weather weather = with_proxies({});
  weather.restarts = false;
  weather.names_proxy = false;
  EXPECT_GT(run_worlds(weather, 200).violations, 0);
}

TEST(LockProxyWorld, ControlWithoutFencesLateWritesGetThrough) {
  Weather weather = with_proxies({});
  weather.fences = false;
  EXPECT_GT(run_worlds(weather, 30).violations, 0);
}

}  // namespace
}  // namespace tessera::lock::world
