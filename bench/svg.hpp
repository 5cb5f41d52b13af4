// A small SVG writer and logarithmic axes, for the plots of the report.
//
// Colours are classes, so that the page decides them for light and dark. Thread safety: values.
#pragma once

#include <string>
#include <vector>

namespace tessera::bench {

struct Place {
  double x = 0;
  double y = 0;
};

// Text with the characters that mean something in HTML replaced.
[[nodiscard]] std::string escaped(const std::string& text);

// Maps [low, high] to [from, to] pixels on a logarithmic axis. Requires 0 < low < high.
struct LogAxis {
  double low = 1;
  double high = 10;
  double from = 0;
  double to = 100;

  [[nodiscard]] double operator()(double value) const;

  // Round values inside the axis, about `wanted` of them: powers of ten, with 2 and 5 between where
  // there is room, or powers of two.
  [[nodiscard]] std::vector<double> decimal_ticks(int wanted) const;
  [[nodiscard]] std::vector<double> binary_ticks(int wanted) const;
};

// The axis that holds all values with a margin of `margin` (1.1 is 10 %) on both sides.
[[nodiscard]] LogAxis axis_around(const std::vector<double>& values, double margin);

class Svg {
 public:
  Svg(double width, double height, const std::string& title);

  void line(Place from, Place to, const std::string& style_class);
  // A group of lines through the places.
  void polyline(const std::vector<Place>& places, const std::string& style_class);
  // A filled shape through the places.
  void polygon(const std::vector<Place>& places, const std::string& style_class);
  // `hover` is what a reader sees with the pointer on it.
  void dot(Place at, double radius, const std::string& style_class, const std::string& hover);
  void box(Place at, Place size, const std::string& style_class, const std::string& hover);
  // `anchor` is start, middle or end.
  void text(Place at, const std::string& anchor, const std::string& style_class,
            const std::string& text);

  // The finished element. The writer is empty afterwards.
  [[nodiscard]] std::string finish();

 private:
  std::string body_;
};

}  // namespace tessera::bench
