#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/pictures.hpp"
#include "tessera/cli/svg.hpp"
#include "tessera/object/midpoint_tree.hpp"

namespace tessera::cli {

using object::Object;
using pattern::Interval;

namespace {

constexpr double kWidth = 1000;
constexpr double kLevel = 76;
constexpr double kNodeWidth = 74;
constexpr double kNodeHeight = 54;

// An object and the position of the node that holds it.
struct Placed {
  int64_t number = 0;
  Object object;
  int64_t position = 0;
};

// The positions from the root to a node: each halves what is left on its side.
std::vector<int64_t> path_to(Interval range, int64_t position) {
  std::vector<int64_t> path;
  while (!range.empty()) {
    path.push_back(range.begin + (range.length() - 1) / 2);
    if (path.back() == position) break;
    if (path.back() < position) {
      range.begin = path.back() + 1;
    } else {
      range.end = path.back();
    }
  }
  return path;
}

Spot spot_of(Interval range, int64_t position, size_t level) {
  const double part =
      static_cast<double>(position - range.begin) / static_cast<double>(range.length());
  return {kNodeWidth / 2 + 8 + part * (kWidth - kNodeWidth - 16),
          8 + kNodeHeight / 2 + kLevel * static_cast<double>(level)};
}

void draw_node(Svg& svg, const Shown& shown, const Placed& node, Spot at) {
  const auto& [number, object, position] = node;
  const int64_t sharers = sharer_count(shown, object.sharers);
  const std::string text = fmt::format("mid t{}", std::min<int64_t>(sharers, 5));
  svg.begin_hot(object_title(shown, number, object));
  svg.rect({at.x - kNodeWidth / 2, at.y - kNodeHeight / 2, kNodeWidth, kNodeHeight},
           "o " + sharing_class(sharers), "", 8);
  svg.text({at.x, at.y - 9}, fmt::format("O{}", number), "big " + text);
  svg.text({at.x, at.y + 6}, interval_text(object.bytes), text, "font-size:11px");
  svg.text({at.x, at.y + 20}, fmt::format("at {}", position), text, "font-size:11px");
  svg.end_hot();
}

}  // namespace

std::string tree_picture(const Shown& shown) {
  const std::vector<Object> objects = shown.objects.meeting(shown.objects.range());
  object::MidpointTree tree(shown.objects.range());
  for (size_t i = 0; i < objects.size(); ++i) {
    tree.insert(objects[i].bytes, static_cast<int64_t>(i));
  }
  const Interval range = shown.objects.range();
  Svg svg(kWidth, 16 + kNodeHeight + kLevel * (tree.depth() - 1),
          "The interval tree of the objects");
  std::set<std::pair<int64_t, int64_t>> edges;
  for (size_t i = 0; i < objects.size(); ++i) {
    const auto path = path_to(range, tree.position_of(static_cast<int64_t>(i)).value_or(0));
    for (size_t level = 1; level < path.size(); ++level) {
      if (!edges.insert({path[level - 1], path[level]}).second) continue;
      svg.line(spot_of(range, path[level - 1], level - 1), spot_of(range, path[level], level),
               "frame");
    }
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    const auto path = path_to(range, tree.position_of(static_cast<int64_t>(i)).value_or(0));
    const Spot at = spot_of(range, path.back(), path.size() - 1);
    draw_node(svg, shown, {static_cast<int64_t>(i), objects[i], path.back()}, at);
  }
  return svg.finish();
}

}  // namespace tessera::cli
