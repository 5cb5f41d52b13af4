#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "tessera/base/assert.hpp"

namespace tessera::bench {

namespace {

// Reorders its argument, which spares the copy that quantile() needs.
double quantile_in_place(std::vector<double>& sample, double q) {
  const double position = q * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<size_t>(position);
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(sample.begin(), middle, sample.end());
  const double low = *middle;
  const double part = position - static_cast<double>(below);
  if (part == 0.0) return low;
  const double high = *std::min_element(middle + 1, sample.end());
  return low + part * (high - low);
}

}  // namespace

double quantile(std::span<const double> sample, double q) {
  TESSERA_ASSERT(!sample.empty());
  TESSERA_ASSERT(q >= 0.0 && q <= 1.0);
  std::vector<double> copy(sample.begin(), sample.end());
  return quantile_in_place(copy, q);
}

double median(std::span<const double> sample) { return quantile(sample, 0.5); }

double relative_spread(std::span<const double> sample) {
  const double middle = median(sample);
  if (middle == 0.0) return 0.0;
  return (quantile(sample, 0.75) - quantile(sample, 0.25)) / middle;
}

double better_ratio(Kind kind, double ours, double theirs) {
  return kind == Kind::kRate ? ours / theirs : theirs / ours;
}

NoiseBand noise_band(Kind kind, std::span<const double> first, std::span<const double> second,
                     uint64_t seed) {
  TESSERA_ASSERT(!first.empty());
  TESSERA_ASSERT(first.size() == second.size());
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<size_t> any_round(0, first.size() - 1);
  std::vector<double> a(first.size());
  std::vector<double> b(first.size());
  std::vector<double> ratios(kResamples);
  for (double& ratio : ratios) {
    for (size_t i = 0; i < a.size(); ++i) {
      const size_t round = any_round(random);
      a[i] = first[round];
      b[i] = second[round];
    }
    ratio = better_ratio(kind, quantile_in_place(b, 0.5), quantile_in_place(a, 0.5));
  }
  const double low = quantile(ratios, 0.005);
  const double high = quantile(ratios, 0.995);
  return NoiseBand{std::min(low, 1.0 / high), std::max(high, 1.0 / low)};
}

}  // namespace tessera::bench
