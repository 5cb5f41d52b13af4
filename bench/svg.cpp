#include "bench/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tessera/base/assert.hpp"

namespace tessera::bench {

namespace {

std::string points_text(const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places) text += fmt::format("{:.1f},{:.1f} ", place.x, place.y);
  return text;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

double LogAxis::operator()(double value) const {
  TESSERA_ASSERT(low > 0 && low < high);
  const double part = std::log(std::clamp(value, low, high) / low) / std::log(high / low);
  return from + part * (to - from);
}

std::vector<double> LogAxis::decimal_ticks(int wanted) const {
  // From the coarsest steps to the finest, until there are enough.
  const std::vector<std::vector<double>> finer = {
      {1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 5, 7}, {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 8}};
  std::vector<double> ticks;
  for (const auto& mantissas : finer) {
    ticks.clear();
    for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10) {
      for (const double mantissa : mantissas) {
        const double tick = mantissa * power;
        if (tick >= low && tick <= high) ticks.push_back(tick);
      }
    }
    if (static_cast<int>(ticks.size()) >= wanted) break;
  }
  return ticks;
}

std::vector<double> LogAxis::binary_ticks(int wanted) const {
  const double doublings = std::log2(high / low);
  const double factor = std::exp2(std::max(1.0, std::ceil(doublings / wanted)));
  std::vector<double> ticks;
  for (double tick = std::exp2(std::ceil(std::log2(low))); tick <= high; tick *= factor) {
    ticks.push_back(tick);
  }
  return ticks;
}

LogAxis axis_around(const std::vector<double>& values, double margin) {
  TESSERA_ASSERT(!values.empty());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  LogAxis axis;
  axis.low = std::max(*low, 1e-12) / margin;
  axis.high = std::max(*high, 1e-12) * margin;
  return axis;
}

Svg::Svg(double width, double height, const std::string& title)
    : body_(fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                        width, height, escaped(title))) {}

void Svg::line(Place from, Place to, const std::string& style_class) {
  body_ +=
      fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                  style_class, from.x, from.y, to.x, to.y);
}

void Svg::polyline(const std::vector<Place>& places, const std::string& style_class) {
  body_ +=
      fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", style_class, points_text(places));
}

void Svg::polygon(const std::vector<Place>& places, const std::string& style_class) {
  body_ += fmt::format("<polygon class=\"{}\" points=\"{}\"/>\n", style_class, points_text(places));
}

void Svg::dot(Place at, double radius, const std::string& style_class, const std::string& hover) {
  body_ += fmt::format(
      "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}</title></circle>\n",
      style_class, at.x, at.y, radius, escaped(hover));
}

void Svg::box(Place at, Place size, const std::string& style_class, const std::string& hover) {
  body_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
      "<title>{}</title></rect>\n",
      style_class, at.x, at.y, std::max(size.x, 0.0), std::max(size.y, 0.0), escaped(hover));
}

void Svg::text(Place at, const std::string& anchor, const std::string& style_class,
               const std::string& text) {
  body_ +=
      fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                  style_class, at.x, at.y, anchor, escaped(text));
}

std::string Svg::finish() { return std::exchange(body_, {}) + "</svg>\n"; }

}  // namespace tessera::bench
