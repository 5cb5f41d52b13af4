#include <fmt/core.h>

#include <algorithm>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/pictures.hpp"
#include "tessera/cli/svg.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

using object::Object;
using pattern::Interval;

namespace {

constexpr double kWidth = 1000;
constexpr double kRow = 24;
constexpr double kObjects = 36;
constexpr size_t kRowsMax = 32;

// Where bytes lie in a picture.
struct Ruler {
  Interval range;
  double left = 0;

  [[nodiscard]] double x(int64_t byte) const {
    const double part =
        static_cast<double>(byte - range.begin) / static_cast<double>(range.length());
    return left + part * (kWidth - left - 12);
  }
  [[nodiscard]] Box box(Interval bytes, double y, double height) const {
    return {x(bytes.begin), y, x(bytes.end) - x(bytes.begin), height};
  }
};

// Numbers below a line, left out where they would run into each other.
void draw_ticks(Svg& svg, const Ruler& ruler, std::vector<int64_t> bytes, double y) {
  double free_from = 0;
  const double last = ruler.x(bytes.back());
  for (const int64_t byte : bytes) {
    const std::string label = with_commas(byte);
    const double half = 3.4 * static_cast<double>(label.size()) + 3;
    const double x = ruler.x(byte);
    const bool is_last = byte == bytes.back();
    if (x - half < free_from || (!is_last && x + half > last - half)) continue;
    svg.line({x, y - 14}, {x, y - 10}, "frame");
    svg.text({std::min(x, kWidth - half), y}, label, "soft mid");
    free_from = x + half;
  }
}

std::vector<Interval> view_of(const Shown& shown, const std::vector<Object>& objects,
                              object::Process process) {
  std::vector<Interval> runs;
  for (const Object& object : objects) {
    const auto sharers = shown.objects.sharers(object.sharers);
    if (!std::binary_search(sharers.begin(), sharers.end(), process)) continue;
    if (!runs.empty() && runs.back().end == object.bytes.begin) {
      runs.back().end = object.bytes.end;
    } else {
      runs.push_back(object.bytes);
    }
  }
  return runs;
}

void draw_view(Svg& svg, const Ruler& ruler, const std::string& name,
               const std::vector<Interval>& runs, double y, const std::string& colour) {
  svg.text({ruler.left - 10, y + 15}, name, "end");
  svg.line({ruler.left, y + kRow / 2}, {kWidth - 12, y + kRow / 2}, "rule");
  for (const Interval run : runs) {
    svg.begin_hot(fmt::format("{}: bytes {}", name, interval_text(run)));
    svg.rect(ruler.box(run, y + 4, kRow - 8), "", fmt::format("fill:{};opacity:.85", colour), 3);
    svg.end_hot();
  }
}

void draw_object(Svg& svg, const Shown& shown, int64_t number, const Object& object,
                 const Box& box) {
  const int64_t sharers = sharer_count(shown, object.sharers);
  svg.begin_hot(object_title(shown, number, object));
  svg.rect(box, "o " + sharing_class(sharers));
  const std::string label = fmt::format("O{}", number);
  if (box.width > 9.0 * static_cast<double>(label.size())) {
    svg.text({box.center_x(), box.center_y() + 5}, label,
             fmt::format("mid t{}", std::min<int64_t>(sharers, 5)));
  }
  svg.end_hot();
}

double label_width(const Shown& shown) {
  size_t longest = 7;
  for (const auto& [process, name] : shown.names) longest = std::max(longest, characters(name));
  return 24 + 7.2 * static_cast<double>(std::min<size_t>(longest, 32));
}

std::vector<int64_t> cuts_of(const Shown& shown, const std::vector<Object>& objects) {
  std::vector<int64_t> cuts = {shown.objects.range().begin, shown.objects.range().end};
  for (const Object& object : objects) {
    cuts.push_back(object.bytes.begin);
    cuts.push_back(object.bytes.end);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

int64_t sharer_count(const Shown& shown, object::SharersId id) {
  return static_cast<int64_t>(shown.objects.sharers(id).size());
}

std::string object_title(const Shown& shown, int64_t number, const Object& object) {
  return fmt::format("O{}: bytes {}, {} {}", number, interval_text(object.bytes),
                     shown.objects.is_shared(object.sharers) ? "shared by" : "private to",
                     sharers_text(shown, object.sharers));
}

std::string line_picture(const Shown& shown) {
  const std::vector<Object> objects = shown.objects.meeting(shown.objects.range());
  auto processes = shown.objects.processes();
  if (processes.size() > kRowsMax) processes.resize(kRowsMax);
  const Ruler ruler{shown.objects.range(), label_width(shown)};
  const double objects_y = 8 + kRow * static_cast<double>(processes.size()) + 6;
  const double bottom = objects_y + kObjects;
  Svg svg(kWidth, bottom + 28, "The views and the objects they cut the file into");
  const std::vector<int64_t> cuts = cuts_of(shown, objects);
  for (const int64_t cut : cuts) {
    svg.line({ruler.x(cut), 6}, {ruler.x(cut), bottom + 6}, "cut");
  }
  for (size_t i = 0; i < processes.size(); ++i) {
    draw_view(svg, ruler, name_of(shown, processes[i]), view_of(shown, objects, processes[i]),
              8 + kRow * static_cast<double>(i), process_colour(static_cast<int64_t>(i)));
  }
  svg.text({ruler.left - 10, objects_y + 23}, "objects", "end soft");
  for (size_t i = 0; i < objects.size(); ++i) {
    draw_object(svg, shown, static_cast<int64_t>(i), objects[i],
                ruler.box(objects[i].bytes, objects_y, kObjects));
  }
  draw_ticks(svg, ruler, cuts, bottom + 22);
  return svg.finish();
}

std::string strip_picture(const Shown& shown) {
  constexpr int64_t kBins = 600;
  const Interval range = shown.objects.range();
  const Ruler ruler{range, 12};
  Svg svg(kWidth, 90, "How many views share each part of the file");
  const int64_t bins = std::min(kBins, range.length());
  for (int64_t i = 0; i < bins; ++i) {
    // Exact for every range: bins are cut by parts of the length, not by products with it.
    const auto cut = [&](int64_t bin) {
      return range.begin + range.length() / bins * bin + range.length() % bins * bin / bins;
    };
    const Interval bytes{cut(i), cut(i + 1)};
    int64_t most = 0;
    int64_t looked_at = 0;
    shown.objects.for_each_meeting(bytes, [&](const Object& object) {
      most = std::max(most, sharer_count(shown, object.sharers));
      return ++looked_at < kLookedAtMax;
    });
    svg.begin_hot(
        fmt::format("bytes {}: at most {}", interval_text(bytes), counted(most, "sharer")));
    svg.rect(ruler.box(bytes, 8, 48), sharing_class(most));
    svg.end_hot();
  }
  svg.rect({12, 8, kWidth - 24, 48}, "frame");
  std::vector<int64_t> ticks;
  for (int64_t i = 0; i <= 4; ++i) ticks.push_back(range.begin + range.length() / 4 * i);
  ticks.back() = range.end;
  draw_ticks(svg, ruler, ticks, 76);
  return svg.finish();
}

}  // namespace tessera::cli
