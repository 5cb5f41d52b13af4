#include "bench/harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/statistics.hpp"

namespace tessera::bench {
namespace {

// A contestant that pretends: `cost` nanoseconds a repetition, each run off by up to `noise` of it.
// `log` remembers who ran.
struct Pretender {
  double cost = 100;
  double noise = 0;
  std::shared_ptr<std::vector<std::string>> log = nullptr;
};

Contestant pretend(const std::string& name, const Pretender& how, uint64_t seed = 1) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return {name, [name, how, random](int64_t repetitions) -> base::Result<double> {
            std::uniform_real_distribution<double> off(-how.noise, how.noise);
            if (how.log) how.log->push_back(name);
            return how.cost * static_cast<double>(repetitions) * (1.0 + off(*random));
          }};
}

Case pretended_case(Kind kind) {
  Case measured;
  measured.name = "pretended";
  measured.unit = "unit";
  measured.kind = kind;
  measured.ours = pretend("ours", {.cost = 100});
  measured.peers = {pretend("slow", {.cost = 400}), pretend("fast", {.cost = 300, .noise = 0.05})};
  return measured;
}

TEST(Statistics, QuantilesInterpolate) {
  const std::vector<double> sample = {5, 1, 3, 2, 4};
  EXPECT_DOUBLE_EQ(median(sample), 3);
  EXPECT_DOUBLE_EQ(quantile(sample, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sample, 1), 5);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.125), 1.5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{1, 2}), 1.5);
  EXPECT_DOUBLE_EQ(relative_spread(sample), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(relative_spread(std::vector<double>{7}), 0);
}

TEST(Statistics, RatioIsHigherWhenBetter) {
  EXPECT_DOUBLE_EQ(better_ratio(Kind::kTime, 2, 6), 3);
  EXPECT_DOUBLE_EQ(better_ratio(Kind::kSize, 2, 6), 3);
  EXPECT_DOUBLE_EQ(better_ratio(Kind::kRate, 6, 2), 3);
}

TEST(Statistics, NoiseBandOfIdenticalNumbersIsOne) {
  const std::vector<double> same(9, 4.0);
  const NoiseBand band = noise_band(Kind::kTime, same, same, 1);
  EXPECT_DOUBLE_EQ(band.low, 1);
  EXPECT_DOUBLE_EQ(band.high, 1);
}

TEST(Statistics, NoiseBandHoldsWhatSetTheTwoApart) {
  const std::vector<double> first(9, 4.0);
  const std::vector<double> second(9, 5.0);
  for (const Kind kind : {Kind::kTime, Kind::kRate}) {
    EXPECT_DOUBLE_EQ(noise_band(kind, first, second, 1).low, 0.8);
    EXPECT_DOUBLE_EQ(noise_band(kind, first, second, 1).high, 1.25);
  }
}

// The promise of the band: an identical contestant rarely leaves it.
TEST(Statistics, NoiseBandHoldsIdenticalContestants) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> number(0.0, 0.05);
  int outside = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> ours(15), first(15), second(15);
    for (auto* sample : {&ours, &first, &second}) {
      for (double& value : *sample) value = number(random);
    }
    const NoiseBand band = noise_band(Kind::kTime, first, second, 1);
    const double ratio = better_ratio(Kind::kTime, median(ours), median(first));
    outside += (ratio < band.low || ratio > band.high) ? 1 : 0;
    EXPECT_GT(band.low, 0.8);
    EXPECT_LT(band.high, 1.25);
  }
  EXPECT_LT(outside, kTrials / 20);
}

TEST(Harness, TimeIsInvertedForTheRatio) {
  const auto outcome = run_case(pretended_case(Kind::kTime), quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_NEAR(outcome->ours, 100, 1e-6);
  EXPECT_NEAR(outcome->peers.at("slow"), 400, 1e-6);
  EXPECT_NEAR(outcome->peers.at("fast"), 300, 15);
  EXPECT_EQ(outcome->best_peer, "fast");
  EXPECT_NEAR(*outcome->ratio, 3, 0.16);
  EXPECT_GE(outcome->runs, kRoundsMin);
}

TEST(Harness, RateIsNot) {
  Case measured = pretended_case(Kind::kRate);
  measured.amount = 1000;
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_NEAR(outcome->ours, 10, 1e-6);
  EXPECT_NEAR(*outcome->ratio, 3, 0.16);
}

TEST(Harness, UnitsOfTime) {
  Case measured = pretended_case(Kind::kTime);
  measured.unit_ns = 1e3;
  measured.amount = 4;
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_NEAR(outcome->ours, 0.025, 1e-9) << "100 ns for 4 things is 0.025 us each";
}

// (H4) and the promise of A/A: a noisy best peer gives a band around 1, a steady one none.
TEST(Harness, NoiseBandComesFromTheBestPeer) {
  const auto noisy = run_case(pretended_case(Kind::kTime), quick_effort());
  ASSERT_TRUE(noisy && noisy->noise);
  EXPECT_LT(noisy->noise->low, 0.999);
  EXPECT_GT(noisy->noise->high, 1.001);
  EXPECT_GT(noisy->noise->low, 0.9);
  Case steady = pretended_case(Kind::kTime);
  steady.peers[1] = pretend("fast", {.cost = 300});
  const auto quiet = run_case(steady, quick_effort());
  ASSERT_TRUE(quiet && quiet->noise);
  EXPECT_NEAR(quiet->noise->low, 1, 1e-9);
  EXPECT_NEAR(quiet->noise->high, 1, 1e-9);
}

// (H2): everyone once a round, the best peer twice, in an order that changes.
TEST(Harness, RoundsAreInterleaved) {
  auto log = std::make_shared<std::vector<std::string>>();
  Case measured = pretended_case(Kind::kTime);
  measured.ours = pretend("ours", {.cost = 100, .log = log});
  measured.peers = {pretend("slow", {.cost = 900, .log = log}),
                    pretend("fast", {.cost = 300, .log = log})};
  measured.ceiling = pretend("ceiling", {.cost = 50, .log = log});
  Effort effort = quick_effort();
  effort.rounds = 8;
  effort.seconds = 100;
  ASSERT_TRUE(run_case(measured, effort));
  constexpr size_t kSlots = 5;
  ASSERT_GE(log->size(), 8 * kSlots);
  const size_t pilots = log->size() - 8 * kSlots;
  std::vector<std::vector<std::string>> rounds;
  for (size_t round = 0; round < 8; ++round) {
    const auto begin = log->begin() + static_cast<std::ptrdiff_t>(pilots + round * kSlots);
    rounds.emplace_back(begin, begin + kSlots);
    EXPECT_EQ(std::count(begin, begin + kSlots, "ours"), 1);
    EXPECT_EQ(std::count(begin, begin + kSlots, "slow"), 1);
    EXPECT_EQ(std::count(begin, begin + kSlots, "fast"), 2);
    EXPECT_EQ(std::count(begin, begin + kSlots, "ceiling"), 1);
  }
  std::sort(rounds.begin(), rounds.end());
  EXPECT_GT(std::unique(rounds.begin(), rounds.end()) - rounds.begin(), 3);
}

TEST(Harness, TwinElsewhereIsTheSecondHalf) {
  Case measured = pretended_case(Kind::kTime);
  measured.peers = {pretend("peer", {.cost = 300})};
  measured.peers[0].twin = pretend("elsewhere", {.cost = 330}).run;
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_NEAR(outcome->peers.at("peer"), 300, 1e-6);
  EXPECT_NEAR(outcome->noise->low, 300.0 / 330.0, 1e-6);
  EXPECT_NEAR(outcome->noise->high, 330.0 / 300.0, 1e-6);
}

// (H4): the pilot was wrong about who is best, so the rounds are repeated with twins for all.
TEST(Harness, LateBestPeerStillGetsItsNoise) {
  Case measured = pretended_case(Kind::kTime);
  auto calls = std::make_shared<int>(0);
  measured.peers[0] = {"late", [calls](int64_t repetitions) -> base::Result<double> {
                         return (++*calls <= 2 ? 90'000.0 : 10.0) *
                                static_cast<double>(repetitions);
                       }};
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->best_peer, "late");
  EXPECT_TRUE(outcome->noise.has_value());
}

// (H1)
TEST(Harness, RoundsAreLongEnoughForTheClock) {
  auto longest = std::make_shared<int64_t>(0);
  Case measured;
  measured.unit = "ns";
  measured.ours = {"ours", [longest](int64_t repetitions) -> base::Result<double> {
                     *longest = repetitions;
                     return 7.0 * static_cast<double>(repetitions);
                   }};
  Effort effort = quick_effort();
  effort.round_ns = 2e6;
  ASSERT_TRUE(run_case(measured, effort));
  EXPECT_GE(static_cast<double>(*longest) * 7.0, 2e6);
  EXPECT_LE(static_cast<double>(*longest) * 7.0, 4e6);
}

// (H1)
TEST(Harness, AllHaveAsManyRepetitionsWhereTheyHelp) {
  for (const bool help : {false, true}) {
    Case measured;
    measured.unit = "ns";
    measured.repetitions_help = help;
    auto last = std::make_shared<std::map<std::string, int64_t>>();
    // The first repetition of a round takes ten times as long as those after it.
    const auto warming = [last](const std::string& name, double pilot_off) {
      auto runs = std::make_shared<int>(0);
      return Contestant{name, [=](int64_t repetitions) -> base::Result<double> {
                          (*last)[name] = repetitions;
                          const double off = ++*runs <= 2 ? pilot_off : 1;
                          return off * 1e4 * (9 + static_cast<double>(repetitions));
                        }};
    };
    measured.ours = warming("ours", 10);  // has bad luck in its pilot
    measured.peers = {warming("peer", 1)};
    Effort effort = quick_effort();
    effort.round_ns = 1e6;
    const auto outcome = run_case(measured, effort);
    ASSERT_TRUE(outcome);
    EXPECT_EQ((*last)["ours"] == (*last)["peer"], help);
    if (help) {
      EXPECT_DOUBLE_EQ(outcome->ratio.value(), 1);
    } else {
      EXPECT_LT(outcome->ratio.value(), 0.5);
    }
  }
}

TEST(Harness, TimedContestantsAreTimed) {
  Case measured;
  measured.unit = "us";
  measured.unit_ns = 1e3;
  measured.ours = timed("ours", [] {
    const double until = now_ns() + 50e3;
    while (now_ns() < until) continue;
  });
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_GE(outcome->ours, 50);
  EXPECT_LT(outcome->ours, 5000);
  EXPECT_FALSE(outcome->ratio.has_value());
  EXPECT_FALSE(outcome->noise.has_value());
}

TEST(Harness, CeilingIsNotAPeer) {
  Case measured = pretended_case(Kind::kTime);
  measured.ceiling = pretend("memcpy", {.cost = 80});
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->peers.size(), 2U);
  EXPECT_EQ(outcome->best_peer, "fast");
  EXPECT_NEAR(*outcome->ceiling_fraction, 0.8, 1e-9);
}

TEST(Harness, SizesNeedNoRounds) {
  Case measured;
  measured.unit = "B";
  measured.kind = Kind::kSize;
  measured.ours = sized("ours", 100);
  measured.bars = {{Bar::Kind::kAtMost, 128}};
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->ours, 100);
  EXPECT_EQ(outcome->runs, 1);
  EXPECT_FALSE(outcome->ratio.has_value());
  EXPECT_EQ(outcome->met, true);
}

TEST(Harness, BarsAreJudged) {
  Case measured = pretended_case(Kind::kTime);
  measured.ceiling = pretend("memcpy", {.cost = 80});
  const auto met_with = [&measured](std::vector<Bar> bars) {
    measured.bars = std::move(bars);
    return run_case(measured, quick_effort())->met;
  };
  EXPECT_EQ(met_with({}), std::nullopt);
  EXPECT_EQ(met_with({{Bar::Kind::kRatioAtLeast, 2.5}}), true);
  EXPECT_EQ(met_with({{Bar::Kind::kRatioAtLeast, 3.5}}), false);
  EXPECT_EQ(met_with({{Bar::Kind::kRatioAtLeast, 3.9, "slow"}}), true);
  EXPECT_EQ(met_with({{Bar::Kind::kRatioAtLeast, 1, "absent"}}), false);
  EXPECT_EQ(met_with({{Bar::Kind::kRatioToBestOf, 3.9, "slo"}}), true);
  EXPECT_EQ(met_with({{Bar::Kind::kRatioToBestOf, 3.9, "s"}}), false) << "fast has an s too";
  EXPECT_EQ(met_with({{Bar::Kind::kRatioToBestOf, 0.1, "absent"}}), false);
  EXPECT_EQ(met_with({{Bar::Kind::kAtMost, 101}}), true);
  EXPECT_EQ(met_with({{Bar::Kind::kAtMost, 99}}), false);
  EXPECT_EQ(met_with({{Bar::Kind::kCeilingAtLeast, 0.79}}), true);
  EXPECT_EQ(met_with({{Bar::Kind::kCeilingAtLeast, 0.81}}), false);
  EXPECT_EQ(met_with({{Bar::Kind::kNotBelowNoise}}), true);
  EXPECT_EQ(met_with({{Bar::Kind::kAtMost, 101}, {Bar::Kind::kAtMost, 99}}), false);
  EXPECT_EQ(met_with({{Bar::Kind::kNearBest, 0.9}}), true);
  EXPECT_EQ(met_with({{Bar::Kind::kNearBest, 2.5}}), true) << "not below the noise is enough";
  measured.ours = pretend("ours", {.cost = 600});
  EXPECT_EQ(met_with({{Bar::Kind::kNotBelowNoise}}), false);
  EXPECT_EQ(met_with({{Bar::Kind::kNearBest, 0.4}}), true) << "near is enough";
  EXPECT_EQ(met_with({{Bar::Kind::kNearBest, 0.9}}), false);
}

TEST(Harness, EveryBarHasItsVerdict) {
  Case measured = pretended_case(Kind::kTime);
  measured.bars = {{Bar::Kind::kAtMost, 101}, {Bar::Kind::kRatioToBestOf, 99, "slow"}};
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->verdicts.size(), 2U);
  EXPECT_TRUE(outcome->verdicts[0].met);
  EXPECT_FALSE(outcome->verdicts[1].met);
  EXPECT_EQ(outcome->verdicts[1].bar, "at least 99x the best slow peer");
  EXPECT_EQ(outcome->met, false);
}

// (H3), (H4)
TEST(Harness, ACaseMayBeAgainstAPeerThatIsNotTheBest) {
  Case measured = pretended_case(Kind::kTime);
  measured.peers.push_back(pretend("far", {.cost = 100'000}));
  for (const char* against : {"slow", "far"}) {
    measured.against = against;
    const auto outcome = run_case(measured, quick_effort());
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->best_peer, against);
    EXPECT_NEAR(*outcome->ratio, outcome->peers.at(against) / 100, 1e-9);
    EXPECT_TRUE(outcome->noise.has_value());
  }
}

// (H5): what does something else is shown, but the ratio is against what does the same.
TEST(Harness, RatiosAreAgainstPeersThatAreLikeOurs) {
  Case measured = pretended_case(Kind::kTime);
  measured.peers = {pretend("A collective", {.cost = 300}), pretend("B collective", {.cost = 200}),
                    pretend("C independent", {.cost = 50})};
  measured.like = "collective";
  measured.bars = {{Bar::Kind::kRatioAtLeast, 2}, {Bar::Kind::kRatioToAny, 0.6}};
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->best_peer, "B collective");
  EXPECT_NEAR(*outcome->ratio, 2, 1e-9);
  EXPECT_TRUE(outcome->noise.has_value());
  EXPECT_EQ(outcome->best_of_all, "C independent");
  EXPECT_NEAR(*outcome->ratio_of_all, 0.5, 1e-9);
  ASSERT_EQ(outcome->verdicts.size(), 2U);
  EXPECT_TRUE(outcome->verdicts[0].met);
  EXPECT_FALSE(outcome->verdicts[1].met);
}

// (H2), (H5)
TEST(Harness, AnotherBuildIsComparedBesideThePeers) {
  const auto log = std::make_shared<std::vector<std::string>>();
  Case measured = pretended_case(Kind::kTime);
  const auto plain = run_case(measured, quick_effort());
  measured.ours = pretend("ours", {.cost = 100, .noise = 0.02});
  measured.comparison = Comparison{pretend("before", {.cost = 150, .log = log})};
  measured.not_compared = "a reason";
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome && plain);
  EXPECT_FALSE(plain->before_ratio.has_value());
  EXPECT_EQ(outcome->peers.size(), 2U);
  EXPECT_EQ(outcome->best_peer, plain->best_peer);
  EXPECT_NEAR(*outcome->before_ratio, 1.5, 0.05);
  EXPECT_LE(outcome->before_noise->low, 1);
  EXPECT_GE(outcome->before_noise->low, 0.9);
  EXPECT_EQ(outcome->not_compared, "a reason");
  EXPECT_GE(std::ssize(*log), kRoundsMin);
  measured.comparison->now = pretend("now", {.cost = 600});
  EXPECT_NEAR(*run_case(measured, quick_effort())->before_ratio, 0.25, 1e-9);
}

// (H9)
TEST(Harness, AnotherBuildThatFailsIsLeftOutAndTheCaseGoesOn) {
  Case measured = pretended_case(Kind::kTime);
  const auto fails_after = [&](int64_t runs) {
    auto left = std::make_shared<int64_t>(runs);
    measured.comparison =
        Comparison{{"before", [left](int64_t repetitions) -> base::Result<double> {
                      if ((*left)-- > 0) return 150.0 * double(repetitions);
                      return base::fail(base::Code::kFailed, "a newer format");
                    }}};
    return run_case(measured, quick_effort());
  };
  for (const int64_t runs : {0, 6}) {  // in its pilot, in the rounds
    const auto outcome = fails_after(runs);
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_NEAR(*outcome->ratio, 3, 0.16);
    EXPECT_FALSE(outcome->before_ratio.has_value());
    EXPECT_EQ(outcome->not_compared, "the build before cannot do it: a newer format");
  }
  measured.peers[0] = {"broken", [](int64_t) -> base::Result<double> {
                         return base::fail(base::Code::kFailed, "the peer ended");
                       }};
  EXPECT_FALSE(fails_after(1000)) << "a peer still ends the case";
}

TEST(Harness, ThePairOfThisBuildHasItsOwnRatio) {
  Case measured = pretended_case(Kind::kTime);
  measured.ours.twin = pretend("elsewhere", {.cost = 125}).run;
  measured.comparison = Comparison{pretend("before", {.cost = 150})};
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_NEAR(*outcome->twin, 125, 1e-6);
  EXPECT_NEAR(*outcome->twin_ratio, 1.25, 1e-6);
  EXPECT_NEAR(*outcome->before_ratio, 1.5, 1e-6);
}

// (H5)
TEST(Harness, RatiosAreNeverAgainstAPeerThatIsNoRival) {
  Case measured = pretended_case(Kind::kTime);
  measured.peers = {pretend("stock, independent", {.cost = 300}),
                    pretend("stock, collective", {.cost = 250}),
                    pretend("ours in another way, independent", {.cost = 110})};
  measured.peers[2].rival = false;
  measured.like = "independent";
  measured.bars = {{Bar::Kind::kRatioToBestOf, 1.2, "ours"}, {Bar::Kind::kRatioAtLeast, 2.9}};
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->best_peer, "stock, independent");
  EXPECT_EQ(outcome->best_of_all, "stock, collective");
  EXPECT_NEAR(outcome->peers.at("ours in another way, independent"), 110, 1e-6) << "it is shown";
  ASSERT_EQ(outcome->verdicts.size(), 2U);
  EXPECT_FALSE(outcome->verdicts[0].met) << "it may have a bar";
  EXPECT_TRUE(outcome->verdicts[1].met);
}

TEST(Harness, BetweenItsFloorAndTheNoiseACaseIsMarked) {
  const auto at = [](double cost, const std::string& cause = {}) {
    Case measured = pretended_case(Kind::kTime);
    measured.cause = cause;
    measured.ours = pretend("ours", {.cost = cost});
    measured.peers = {pretend("peer", {.cost = 90})};  // without noise
    measured.bars = {{Bar::Kind::kFloor, 0.85}};
    return run_case(measured, quick_effort()).value();
  };
  EXPECT_EQ(at(80).mark, "");
  EXPECT_EQ(at(100).met, true);
  EXPECT_EQ(at(100).mark, "within 0.85 and the noise band: no cause is known");
  EXPECT_EQ(at(100, "one copy more").mark, "within 0.85 and the noise band: one copy more");
  EXPECT_EQ(at(110).met, false);
  EXPECT_EQ(at(110).mark, "") << "it is missed, which is worse";
}

// (H6): however little time a case is given, what is believed comes from enough rounds.
TEST(Harness, RoundsEndWithTheTimeButNotTooEarly) {
  const auto runs_in = [](int64_t rounds, int64_t rounds_min) {
    Effort effort = quick_effort();
    effort.rounds = rounds;
    effort.seconds = 1e-9;
    Case measured = pretended_case(Kind::kTime);
    measured.rounds_min = rounds_min;
    const auto outcome = run_case(measured, effort);
    EXPECT_TRUE(outcome);
    return outcome->runs;
  };
  EXPECT_EQ(runs_in(Effort().rounds, 0), kRoundsBelieved);
  EXPECT_EQ(runs_in(Effort().rounds, 17), 17);
  EXPECT_EQ(runs_in(kRoundsBelieved - 1, 17), kRoundsBelieved - 1);
  EXPECT_EQ(runs_in(1, 0), kRoundsMin);
}

// (H8)
TEST(Harness, SlowPeersRunAsOftenAsTheySay) {
  const auto runs_in = [](int64_t rounds) {
    const auto log = std::make_shared<std::vector<std::string>>();
    Case measured = pretended_case(Kind::kTime);
    measured.peers[0] = pretend("slow", {.cost = 1e10, .log = log});
    measured.peers[0].rounds_max = 2;
    Effort effort = quick_effort();
    effort.rounds = rounds;
    effort.seconds = 60;
    const auto outcome = run_case(measured, effort);
    EXPECT_TRUE(outcome);
    EXPECT_EQ(outcome->peers.at("slow"), 1e10);
    EXPECT_EQ(outcome->best_peer, "fast");
    return log->size();
  };
  EXPECT_EQ(runs_in(20), 2U);
  EXPECT_EQ(runs_in(kRoundsMin), 1U);
}

TEST(Harness, ASlowPeerAloneHasItsNoiseToo) {
  Case measured = pretended_case(Kind::kTime);
  measured.peers = {pretend("slow", {.cost = 1e10})};
  measured.peers[0].rounds_max = 2;
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->best_peer, "slow");
  EXPECT_TRUE(outcome->noise.has_value());
}

// (H7)
TEST(Harness, FarPeersRunInFewRounds) {
  const auto runs_in = [](double cost, int64_t rounds) {
    auto log = std::make_shared<std::vector<std::string>>();
    Case measured = pretended_case(Kind::kTime);
    measured.peers.push_back(pretend("far", {.cost = cost, .log = log}));
    Effort effort = quick_effort();
    effort.rounds = rounds;
    effort.seconds = 100;
    const auto outcome = run_case(measured, effort);
    EXPECT_TRUE(outcome && outcome->peers.contains("far"));
    return static_cast<int64_t>(log->size());
  };
  EXPECT_EQ(runs_in(300 * kFar * 1.2, 20) - runs_in(300 * kFar * 1.2, 10), 0);
  EXPECT_EQ(runs_in(300 * kFar * 0.8, 20) - runs_in(300 * kFar * 0.8, 10), 10);
}

TEST(Harness, DroppedPeersAreToldInTheUnit) {
  Case measured = pretended_case(Kind::kTime);
  measured.unit_ns = 1e3;
  measured.dropped_ns = {{"hopeless", 5e6}};
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_TRUE(outcome);
  EXPECT_NEAR(outcome->dropped.at("hopeless"), 5000, 1e-6);
  EXPECT_FALSE(outcome->peers.contains("hopeless"));
}

TEST(Harness, AFailingContestantEndsTheCase) {
  Case measured = pretended_case(Kind::kTime);
  measured.peers[0] = {"broken", [](int64_t) -> base::Result<double> {
                         return base::fail(base::Code::kFailed, "the peer ended");
                       }};
  const auto outcome = run_case(measured, quick_effort());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().context, "the peer ended");
  measured.peers[0] = {"negative", [](int64_t) -> base::Result<double> { return -1.0; }};
  EXPECT_FALSE(run_case(measured, quick_effort()));
}

}  // namespace
}  // namespace tessera::bench
