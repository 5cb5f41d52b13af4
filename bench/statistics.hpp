// Statistics of repeated measurements: medians, spread, and the noise band of a ratio.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/case.hpp"

namespace tessera::bench {

// Requires a non-empty sample and 0 <= q <= 1. Linear between the two nearest order statistics.
[[nodiscard]] double quantile(std::span<const double> sample, double q);
[[nodiscard]] double median(std::span<const double> sample);
// Interquartile range over the median; 0 for a sample of one.
[[nodiscard]] double relative_spread(std::span<const double> sample);

// How much better `ours` is than `theirs`: above 1 is better, for times as for rates.
[[nodiscard]] double better_ratio(Kind kind, double ours, double theirs);

// The band in which the ratio of an identical contestant would lie.
//
// `first` and `second` are the numbers of one contestant that ran twice in every round (A/A), by
// round. Rounds are resampled with replacement and the ratio of the two medians is taken, as for
// ours against a peer. The band holds 99 % of kResamples such ratios and, because either of the two
// could have been called the first, 99 % of their inverses. So it covers the scatter of the rounds
// and what set the two apart for the whole run (where their memory lies). Keeping the pairs keeps
// what both halves of a round share (drift, a slow phase of the machine). Requires samples of one
// equal, positive length. Cost: kResamples * n.
inline constexpr int kResamples = 2000;
[[nodiscard]] NoiseBand noise_band(Kind kind, std::span<const double> first,
                                   std::span<const double> second, uint64_t seed);

}  // namespace tessera::bench
