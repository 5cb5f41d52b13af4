#include <fmt/core.h>

#include <algorithm>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/pictures.hpp"
#include "tessera/cli/ruler.hpp"
#include "tessera/cli/svg.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

using object::Object;
using pattern::Interval;

namespace {

constexpr double kRow = 24;
constexpr double kObjects = 36;
constexpr size_t kRowsMax = 32;

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
  svg.line({ruler.left, y + kRow / 2}, {kLineWidth - 12, y + kRow / 2}, "rule");
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
  Svg svg(kLineWidth, bottom + 28, "The views and the objects they cut the file into");
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
  Svg svg(kLineWidth, 90, "How many views share each part of the file");
  const int64_t bins = std::min(kBins, range.length());
  for (int64_t i = 0; i < bins; ++i) {
    const Interval bytes = part_of(range, i, bins);
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
  svg.rect({12, 8, kLineWidth - 24, 48}, "frame");
  draw_ticks(svg, ruler, quarters_of(range), 76);
  return svg.finish();
}

}  // namespace tessera::cli
