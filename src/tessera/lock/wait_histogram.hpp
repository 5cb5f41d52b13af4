// WaitHistogram: how long requests have waited for their locks, in a few classes of time.
//
// Thread safety: none; one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::lock {

class WaitHistogram {
 public:
  // The longest wait of each class but the last, which has no bound; the first is for those that
  // hardly waited.
  static constexpr std::array<int64_t, 9> kBoundsNs = {
      1'000,       10'000,        100'000,        1'000'000,     10'000'000,
      100'000'000, 1'000'000'000, 10'000'000'000, 60'000'000'000};

  void add(int64_t wait_ns) {
    const auto* const at = std::lower_bound(kBoundsNs.begin(), kBoundsNs.end(), wait_ns);
    ++counts_[static_cast<size_t>(at - kBoundsNs.begin())];
    sum_ns_ += static_cast<double>(wait_ns);
  }

  // One for each bound, and one for longer waits.
  [[nodiscard]] const std::array<uint64_t, kBoundsNs.size() + 1>& counts() const { return counts_; }
  [[nodiscard]] double sum_ns() const { return sum_ns_; }

 private:
  std::array<uint64_t, kBoundsNs.size() + 1> counts_{};
  double sum_ns_ = 0;
};

}  // namespace tessera::lock
