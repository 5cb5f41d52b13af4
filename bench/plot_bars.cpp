#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/output.hpp"
#include "bench/plot.hpp"
#include "bench/svg.hpp"
#include "tessera/base/assert.hpp"

namespace tessera::bench {

namespace {

constexpr double kWidth = 860;
constexpr double kNames = 150;  // room for the contestants' names
constexpr double kNumbers = 110;
constexpr double kBar = 16;
constexpr double kStep = 22;
constexpr double kHeading = 26;

struct NamedBar {
  std::string name;
  std::string style_class;
  double value = 0;
};

std::vector<NamedBar> bars_of(const Outcome& outcome, const Legend& legend) {
  std::vector<NamedBar> bars = {{"Tessera", "s0", outcome.ours}};
  for (const auto& [name, value] : outcome.peers) {
    bars.push_back({name, legend.style_class(name), value});
  }
  if (outcome.ceiling) bars.push_back({outcome.ceiling_name, "ceiling", *outcome.ceiling});
  if (outcome.paper && outcome.paper->value) {
    bars.push_back({outcome.paper->source, "paper", *outcome.paper->value});
  }
  return bars;
}

// A logarithmic bar has no natural beginning: all begin a little below the smallest number.
LogAxis bars_axis(const std::vector<Outcome>& group, const Legend& legend) {
  std::vector<double> values;
  for (const Outcome& outcome : group) {
    for (const NamedBar& bar : bars_of(outcome, legend)) {
      if (bar.value > 0) values.push_back(bar.value);
    }
  }
  if (values.empty()) values.push_back(1);
  LogAxis axis = axis_around(values, 1.0);
  axis.low = std::pow(10.0, std::floor(std::log10(axis.low / 1.5)));
  axis.high = std::max(axis.high, axis.low * 10);
  axis.from = kNames;
  axis.to = kWidth - kNumbers;
  return axis;
}

void draw_noise(Svg& svg, const Outcome& outcome, const LogAxis& axis, double y) {
  const double best = outcome.peers.at(outcome.best_peer);
  const bool rate = outcome.kind == Kind::kRate;
  const double low = rate ? best * outcome.noise->low : best / outcome.noise->high;
  const double high = rate ? best * outcome.noise->high : best / outcome.noise->low;
  svg.box({axis(low), y - 2}, {std::max(axis(high) - axis(low), 1.0), kBar + 4}, "noise",
          fmt::format("noise of {}: {:.3f} to {:.3f}", outcome.best_peer, outcome.noise->low,
                      outcome.noise->high));
}

double draw_outcome(Svg& svg, const Outcome& outcome, const Legend& legend, const LogAxis& axis,
                    double y) {
  svg.text({0, y + 12}, "start", "case", outcome.name);
  y += kHeading - 4;
  for (const NamedBar& bar : bars_of(outcome, legend)) {
    const std::string number = number_text(bar.value) + " " + outcome.unit;
    svg.text({kNames - 8, y + 12}, "end", "tick", bar.name);
    svg.box({axis.from, y}, {axis(bar.value) - axis.from, kBar}, "bar " + bar.style_class,
            bar.name + ": " + number);
    if (bar.name == outcome.best_peer && outcome.noise) draw_noise(svg, outcome, axis, y);
    svg.text({axis(bar.value) + 6, y + 12}, "start", "number", number);
    y += kStep;
  }
  return y + 10;
}

}  // namespace

std::string bar_plot(const std::vector<Outcome>& group) {
  TESSERA_ASSERT(!group.empty());
  const Legend legend = legend_of(group);
  const LogAxis axis = bars_axis(group, legend);
  double height = 24;
  for (const Outcome& outcome : group) {
    height += kHeading + 6 + kStep * static_cast<double>(bars_of(outcome, legend).size());
  }
  Svg svg(kWidth, height, group.front().group);
  for (const double tick : axis.decimal_ticks(3)) {
    svg.line({axis(tick), 0}, {axis(tick), height - 20}, "grid");
    svg.text({axis(tick), height - 6}, "middle", "tick", number_text(tick));
  }
  double y = 4;
  for (const Outcome& outcome : group) y = draw_outcome(svg, outcome, legend, axis, y);
  return svg.finish();
}

}  // namespace tessera::bench
