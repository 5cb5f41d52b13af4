#include "tessera/cli/ruler.hpp"

#include <algorithm>
#include <string>

#include "tessera/cli/numbers.hpp"

namespace tessera::cli {

pattern::Interval part_of(pattern::Interval range, int64_t i, int64_t parts) {
  // Cut by parts of the length, not by products with it, which could overflow.
  const auto cut = [&](int64_t part) {
    return range.begin + range.length() / parts * part + range.length() % parts * part / parts;
  };
  return {cut(i), cut(i + 1)};
}

void draw_ticks(Svg& svg, const Ruler& ruler, const std::vector<int64_t>& bytes, double y) {
  double free_from = 0;
  const double last = ruler.x(bytes.back());
  for (const int64_t byte : bytes) {
    const std::string label = with_commas(byte);
    const double half = 3.4 * static_cast<double>(label.size()) + 3;
    const double x = ruler.x(byte);
    const bool is_last = byte == bytes.back();
    if (x - half < free_from || (!is_last && x + half > last - half)) continue;
    svg.line({x, y - 14}, {x, y - 10}, "frame");
    svg.text({std::min(x, kLineWidth - half), y}, label, "soft mid");
    free_from = x + half;
  }
}

std::vector<int64_t> quarters_of(pattern::Interval range) {
  std::vector<int64_t> ticks;
  for (int64_t i = 0; i <= 4; ++i) ticks.push_back(range.begin + range.length() / 4 * i);
  ticks.back() = range.end;
  return ticks;
}

}  // namespace tessera::cli
