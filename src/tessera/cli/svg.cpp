#include "tessera/cli/svg.hpp"

#include <fmt/core.h>

#include "tessera/cli/page.hpp"

namespace tessera::cli {

namespace {

// At most two decimals and no trailing zeros: pages stay small.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string attribute(const char* name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, value);
}

}  // namespace

std::string process_colour(int64_t n) { return fmt::format("var(--c{})", n % 8); }

Svg::Svg(double width, double height, std::string_view label) {
  text_ = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", number(width),
                      number(height), escaped(label));
}

void Svg::begin_hot(std::string_view title) {
  text_ += fmt::format("<g class=\"hot\"><title>{}</title>", escaped(title));
}

void Svg::end_hot() { text_ += "</g>\n"; }

void Svg::rect(const Box& box, std::string_view classes, std::string_view style, double radius) {
  text_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}{}{}/>\n",
                       number(box.x), number(box.y), number(box.width), number(box.height),
                       radius > 0 ? attribute("rx", number(radius)) : "",
                       attribute("class", classes), attribute("style", style));
}

void Svg::text(Spot at, std::string_view content, std::string_view classes,
               std::string_view style) {
  text_ += fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", number(at.x), number(at.y),
                       attribute("class", classes), attribute("style", style), escaped(content));
}

void Svg::line(Spot from, Spot to, std::string_view classes, std::string_view style) {
  text_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}{}/>\n", number(from.x),
                       number(from.y), number(to.x), number(to.y), attribute("class", classes),
                       attribute("style", style));
}

void Svg::curve(Spot from, Spot to, std::string_view style) {
  const double middle = (from.x + to.x) / 2;
  text_ += fmt::format("<path d=\"M{} {}C{} {} {} {} {} {}\" fill=\"none\"{}/>\n", number(from.x),
                       number(from.y), number(middle), number(from.y), number(middle), number(to.y),
                       number(to.x), number(to.y), attribute("style", style));
}

}  // namespace tessera::cli
