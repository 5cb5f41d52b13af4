// SVG: just the shapes that the pictures need.
//
// Coordinates are pixels of the picture's own size; the page scales it. Colours come from CSS
// classes (page.hpp), so that pictures follow light and dark. Thread safety: none; one thread draws
// one.
#pragma once

#include <string>
#include <string_view>

namespace tessera::cli {

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] double center_x() const { return x + width / 2; }
  [[nodiscard]] double center_y() const { return y + height / 2; }
  [[nodiscard]] Box inset(double by) const {
    return {x + by, y + by, width - 2 * by, height - 2 * by};
  }
};

struct Spot {
  double x = 0;
  double y = 0;
};

class Svg {
 public:
  // The label says what the picture shows, for those who do not see it.
  Svg(double width, double height, std::string_view label);

  // What is drawn between begin_hot() and end_hot() has one title, shown when pointed at.
  void begin_hot(std::string_view title);
  void end_hot();

  void rect(const Box& box, std::string_view classes, std::string_view style = {},
            double radius = 0);
  void text(Spot at, std::string_view content, std::string_view classes,
            std::string_view style = {});
  void line(Spot from, Spot to, std::string_view classes, std::string_view style = {});
  // A curve that leaves and arrives horizontally.
  void curve(Spot from, Spot to, std::string_view style);

  [[nodiscard]] std::string finish() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

// "var(--c2)": the colour of the n-th process, repeating after eight.
[[nodiscard]] std::string process_colour(int64_t n);

}  // namespace tessera::cli
