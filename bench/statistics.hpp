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

// The band that the ratio of an identical contestant leaves in about one run of a hundred.
//
// `first` and `second` are the numbers of one contestant that ran twice in every round (A/A), by
// round. Rounds are resampled with replacement; in each resampled round the two numbers change
// places at random (they are exchangeable, being the same code), and the ratio of the two medians
// is taken as for ours against a peer. The band is the 0.5 % to 99.5 % range of kResamples such
// ratios, widened to hold the ratio observed in this run: `first` is the number that was good
// enough to be called best, so an identical contestant tends to look slightly worse than it.
// Keeping the pairs keeps what both halves of a round share (drift, a slow phase of the machine).
// Requires samples of one equal, positive length. Cost: kResamples * n.
inline constexpr int kResamples = 2000;
[[nodiscard]] NoiseBand noise_band(Kind kind, std::span<const double> first,
                                   std::span<const double> second, uint64_t seed);

}  // namespace tessera::bench
