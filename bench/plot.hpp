// Plots of a group of outcomes: lines over a sweep, or bars.
//
// Both show ours, every peer, the ceiling dashed, the noise band of the best peer shaded, and a
// paper's comparable value as a mark. Axes are logarithmic. Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/case.hpp"

namespace tessera::bench {

// Who appears in a group, in a fixed order: ours, the peers by name, the ceiling. The position is
// the number of the colour class, "s0" being ours; the ceiling is "ceiling".
struct Legend {
  std::vector<std::string> peers;
  std::string ceiling;  // empty without one

  [[nodiscard]] std::string style_class(const std::string& peer) const;
};

[[nodiscard]] Legend legend_of(const std::vector<Outcome>& group);

// Whether the group is a sweep: at least two outcomes, all with an x of their own.
[[nodiscard]] bool is_sweep(const std::vector<Outcome>& group);

// Two panels: the numbers over x, and below it the ratio to the best peer over the noise band.
// Requires is_sweep(group).
[[nodiscard]] std::string line_plot(const std::vector<Outcome>& group);

// One block of horizontal bars for each outcome. Requires a group that is not empty.
[[nodiscard]] std::string bar_plot(const std::vector<Outcome>& group);

// A byte count or plain number for an axis: 512, 4K, 64M.
[[nodiscard]] std::string axis_text(double value);

}  // namespace tessera::bench
