// The harness: runs the contestants of a case against each other and says what to believe.
//
// How a case is run:
//   (H1) Every contestant first runs a pilot: warm-up, and as many repetitions per round as make a
//        round at least `round_ns` long, so that the clock and the loop do not matter. Where a
//        repetition helps the next, all have as many as the one that found the most: else the
//        number alone would decide.
//   (H2) Then come rounds. In each, everyone runs once, in an order shuffled anew from the seed:
//        ours, every peer, the ceiling, and a second time (the twin) every peer whose pilot came
//        within kContender of the best; a twin runs elsewhere where the peer offers that. What
//        disturbs the machine disturbs all alike. Another build of ours, where one is compared, is
//        one more of them, and then ours has a twin too.
//   (H3) Numbers are medians over the rounds. The best peer is the one with the best median, or the
//        one that the case is against. The ratio is ours against it, above 1 better, be the number
//        a time or a rate.
//   (H4) The noise band comes from the best peer and its own twin (statistics.hpp). If the best
//        peer turns out to have no twin, the rounds are repeated with a twin for every peer.
//   (H5) A ceiling and another build of ours are never peers. A peer that is no rival is in (H3),
//        (H4) and the twins only where the case is against it. Where a case says which peers are
//        like ours, the same is true of the others, and the ratio to the best of all rivals is
//        shown beside that of the like. All contestants of a case are timed by the same clock.
//   (H6) Rounds end at `rounds`, or when those who run in all of them have taken `seconds`, and not
//        less than those who do not; but not before kRoundsBelieved, or the case's rounds_min, if
//        so many were asked for: the band of fewer is itself a matter of luck.
//   (H7) A peer whose pilot is worse than kFar times the best runs in the first kFarRounds only: it
//        cannot win, and would take the time of those who can.
//   (H8) A peer with rounds_max runs in so many rounds, in one with kRoundsMin of them, one
//        repetition each, without a pilot; it gets a twin only if it is the best.
//   (H9) Where the other build fails, the case is run anew without it, and its outcome says why.
// Any other contestant that fails ends the case with its error. Thread safety: one thread runs
// cases.
#pragma once

#include <cstdint>
#include <string>

#include "bench/case.hpp"
#include "tessera/base/result.hpp"

namespace tessera::bench {

struct Effort {
  int64_t rounds = 25;
  double seconds = 2.0;   // per case, see (H6); the pilot is not counted
  double round_ns = 1e7;  // the shortest a contestant's share of a round may be
  uint64_t seed = 20251115;
};

inline constexpr int64_t kRoundsMin = 5;
inline constexpr int64_t kRoundsBelieved = 9;
inline constexpr double kContender = 1.3;
inline constexpr double kFar = 4.0;
inline constexpr int64_t kFarRounds = 3;

// What --quick uses: enough to see that everything runs, too little to believe the numbers.
[[nodiscard]] Effort quick_effort();

// Requires a case with distinct peer names, among them the one it is against, if any. Fails as the
// first contestant that failed.
[[nodiscard]] base::Result<Outcome> run_case(const Case& measured, const Effort& effort);

// Why a case is not compared with the other build, which failed.
[[nodiscard]] std::string not_by_the_build_before(const base::Error& error);

// Whether the outcome reaches one bar, and the bar in words, for example "ratio >= 3 to std::map".
[[nodiscard]] bool bar_met(const Bar& bar, const Outcome& outcome);
[[nodiscard]] std::string bar_text(const Bar& bar, const Outcome& outcome);

}  // namespace tessera::bench
