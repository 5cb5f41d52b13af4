#include "bench/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bench/output.hpp"
#include "bench/svg.hpp"
#include "tessera/base/assert.hpp"

namespace tessera::bench {

namespace {

constexpr double kWidth = 860;
constexpr double kLeft = 64;
constexpr double kRight = 16;

std::string hover_text(const std::string& who, double value, const Outcome& outcome) {
  return fmt::format("{}: {} {} ({})", who, number_text(value), outcome.unit, outcome.name);
}

// Every number of the group that the value axis must hold.
std::vector<double> values_of(const std::vector<Outcome>& group) {
  std::vector<double> values;
  for (const Outcome& outcome : group) {
    values.push_back(outcome.ours);
    for (const auto& [name, value] : outcome.peers) values.push_back(value);
    if (outcome.ceiling) values.push_back(*outcome.ceiling);
    if (outcome.paper && outcome.paper->value) values.push_back(*outcome.paper->value);
  }
  std::erase_if(values, [](double value) { return !(value > 0) || !std::isfinite(value); });
  if (values.empty()) values.push_back(1);
  return values;
}

struct Band {
  double low = 0;
  double high = 0;
};

// The numbers that the best peer may as well have shown.
Band band_of(const Outcome& outcome) {
  const double best = outcome.peers.at(outcome.best_peer);
  if (outcome.kind == Kind::kRate) return {best * outcome.noise->low, best * outcome.noise->high};
  return {best / outcome.noise->high, best / outcome.noise->low};
}

struct Frame {
  LogAxis x;
  LogAxis y;
};

void draw_frame(Svg& svg, const Frame& frame, const std::string& y_label, int y_ticks) {
  for (const double tick : frame.y.decimal_ticks(y_ticks)) {
    const double y = frame.y(tick);
    svg.line({frame.x.from, y}, {frame.x.to, y}, "grid");
    svg.text({frame.x.from - 6, y + 4}, "end", "tick", number_text(tick));
  }
  svg.line({frame.x.from, frame.y.from}, {frame.x.to, frame.y.from}, "axis");
  svg.text({frame.x.from, frame.y.to - 8}, "start", "label", y_label);
}

bool binary_sweep(const std::vector<Outcome>& group) {
  return group.front().x_label.find("byte") != std::string::npos;
}

void draw_x_ticks(Svg& svg, const std::vector<Outcome>& group, const Frame& frame) {
  const auto ticks = binary_sweep(group) ? frame.x.binary_ticks(9) : frame.x.decimal_ticks(4);
  for (const double tick : ticks) {
    const std::string text = binary_sweep(group) ? axis_text(tick) : number_text(tick);
    svg.line({frame.x(tick), frame.y.from}, {frame.x(tick), frame.y.from + 4}, "axis");
    svg.text({frame.x(tick), frame.y.from + 18}, "middle", "tick", text);
  }
  svg.text({(frame.x.from + frame.x.to) / 2, frame.y.from + 36}, "middle", "label",
           group.front().x_label);
}

// The shape between two lines of the same length.
void draw_band(Svg& svg, std::vector<Place> upper, const std::vector<Place>& lower) {
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  if (!upper.empty()) svg.polygon(upper, "band");
}

void draw_value_band(Svg& svg, const std::vector<Outcome>& group, const Frame& frame) {
  std::vector<Place> upper;
  std::vector<Place> lower;
  for (const Outcome& outcome : group) {
    if (!outcome.noise) continue;
    upper.push_back({frame.x(*outcome.x), frame.y(band_of(outcome).high)});
    lower.push_back({frame.x(*outcome.x), frame.y(band_of(outcome).low)});
  }
  draw_band(svg, std::move(upper), lower);
}

void draw_series(Svg& svg, const std::vector<Place>& places, const std::string& style_class,
                 const std::vector<std::string>& hovers) {
  svg.polyline(places, "series " + style_class);
  for (size_t i = 0; i < places.size(); ++i) {
    svg.dot(places[i], style_class == "s0" ? 4 : 3, "point " + style_class, hovers[i]);
  }
}

void draw_values(Svg& svg, const std::vector<Outcome>& group, const Frame& frame) {
  const Legend legend = legend_of(group);
  draw_value_band(svg, group, frame);
  std::vector<Place> ceiling;
  for (const Outcome& outcome : group) {
    if (outcome.ceiling) ceiling.push_back({frame.x(*outcome.x), frame.y(*outcome.ceiling)});
  }
  if (!ceiling.empty()) svg.polyline(ceiling, "series ceiling");
  for (const std::string& peer : legend.peers) {
    std::vector<Place> places;
    std::vector<std::string> hovers;
    for (const Outcome& outcome : group) {
      const auto found = outcome.peers.find(peer);
      if (found == outcome.peers.end()) continue;
      places.push_back({frame.x(*outcome.x), frame.y(found->second)});
      hovers.push_back(hover_text(peer, found->second, outcome));
    }
    draw_series(svg, places, legend.style_class(peer), hovers);
  }
  std::vector<Place> ours;
  std::vector<std::string> hovers;
  for (const Outcome& outcome : group) {
    ours.push_back({frame.x(*outcome.x), frame.y(outcome.ours)});
    hovers.push_back(hover_text("Tessera", outcome.ours, outcome));
    if (outcome.paper && outcome.paper->value) {
      svg.dot({frame.x(*outcome.x), frame.y(*outcome.paper->value)}, 5, "paper",
              outcome.paper->figure + ", " + outcome.paper->source);
    }
  }
  draw_series(svg, ours, "s0", hovers);
}

void draw_ratios(Svg& svg, const std::vector<Outcome>& group, const Frame& frame) {
  std::vector<Place> upper;
  std::vector<Place> lower;
  std::vector<Place> ratios;
  std::vector<std::string> hovers;
  for (const Outcome& outcome : group) {
    if (!outcome.ratio) continue;
    upper.push_back({frame.x(*outcome.x), frame.y(outcome.noise->high)});
    lower.push_back({frame.x(*outcome.x), frame.y(outcome.noise->low)});
    ratios.push_back({frame.x(*outcome.x), frame.y(*outcome.ratio)});
    hovers.push_back(
        fmt::format("{:.2f} times {} ({})", *outcome.ratio, outcome.best_peer, outcome.name));
  }
  draw_band(svg, std::move(upper), lower);
  svg.line({frame.x.from, frame.y(1)}, {frame.x.to, frame.y(1)}, "unity");
  draw_series(svg, ratios, "s0", hovers);
}

std::vector<double> ratios_of(const std::vector<Outcome>& group) {
  std::vector<double> values = {1};
  for (const Outcome& outcome : group) {
    if (!outcome.ratio) continue;
    values.insert(values.end(), {*outcome.ratio, outcome.noise->low, outcome.noise->high});
  }
  return values;
}

}  // namespace

std::string Legend::style_class(const std::string& peer) const {
  const auto found = std::find(peers.begin(), peers.end(), peer);
  TESSERA_ASSERT(found != peers.end());
  return fmt::format("s{}", 1 + (found - peers.begin()) % 6);
}

Legend legend_of(const std::vector<Outcome>& group) {
  std::set<std::string> peers;
  Legend legend;
  for (const Outcome& outcome : group) {
    for (const auto& [name, value] : outcome.peers) peers.insert(name);
    if (outcome.ceiling) legend.ceiling = outcome.ceiling_name;
  }
  legend.peers.assign(peers.begin(), peers.end());
  return legend;
}

bool is_sweep(const std::vector<Outcome>& group) {
  std::set<double> xs;
  for (const Outcome& outcome : group) {
    if (outcome.x && *outcome.x > 0) xs.insert(*outcome.x);
  }
  return group.size() >= 2 && xs.size() == group.size();
}

std::string axis_text(double value) {
  for (const auto& [suffix, size] : {std::pair{"G", 0x1p30}, {"M", 0x1p20}, {"K", 0x1p10}}) {
    if (value >= size) return number_text(value / size) + suffix;
  }
  return number_text(value);
}

std::string line_plot(const std::vector<Outcome>& group) {
  TESSERA_ASSERT(is_sweep(group));
  std::vector<Outcome> sorted = group;
  std::sort(sorted.begin(), sorted.end(),
            [](const Outcome& a, const Outcome& b) { return *a.x < *b.x; });
  const bool ratios = !legend_of(group).peers.empty();
  Frame values;
  values.x = axis_around({*sorted.front().x, *sorted.back().x}, 1.1);
  values.x.from = kLeft;
  values.x.to = kWidth - kRight;
  values.y = axis_around(values_of(sorted), 1.25);
  values.y.from = 300;
  values.y.to = 28;
  Frame below = values;
  below.y = axis_around(ratios_of(sorted), 1.15);
  below.y.from = 480;
  below.y.to = 352;
  Svg svg(kWidth, ratios ? 524 : 344, sorted.front().group);
  draw_frame(svg, values, sorted.front().unit, 5);
  draw_values(svg, sorted, values);
  if (ratios) {
    draw_frame(svg, below, "ratio to the best peer, above 1 is better; shaded: noise", 3);
    draw_ratios(svg, sorted, below);
  }
  draw_x_ticks(svg, sorted, ratios ? below : values);
  return svg.finish();
}

}  // namespace tessera::bench
