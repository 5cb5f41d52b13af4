// Ruler: where bytes of a file lie in a picture that shows them from left to right.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/cli/svg.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::cli {

inline constexpr double kLineWidth = 1000;

// The range lies between `left` and the right margin. Requires that it is not empty.
struct Ruler {
  pattern::Interval range;
  double left = 0;

  [[nodiscard]] double x(int64_t byte) const {
    const double part =
        static_cast<double>(byte - range.begin) / static_cast<double>(range.length());
    return left + part * (kLineWidth - left - 12);
  }
  [[nodiscard]] Box box(pattern::Interval bytes, double y, double height) const {
    return {x(bytes.begin), y, x(bytes.end) - x(bytes.begin), height};
  }
};

// The i-th of so many parts of a range, as even as they can be, exactly, for every range. Requires
// 0 <= i < parts <= range.length().
[[nodiscard]] pattern::Interval part_of(pattern::Interval range, int64_t i, int64_t parts);

// Numbers below a line, left out where they would run into each other. Requires at least one.
void draw_ticks(Svg& svg, const Ruler& ruler, const std::vector<int64_t>& bytes, double y);
// The ends of the range and three numbers between.
[[nodiscard]] std::vector<int64_t> quarters_of(pattern::Interval range);

}  // namespace tessera::cli
