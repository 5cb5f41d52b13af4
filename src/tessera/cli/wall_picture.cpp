#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/pictures.hpp"
#include "tessera/cli/svg.hpp"

namespace tessera::cli {

using object::Object;

namespace {

// Where pixels of the image lie in a picture.
struct Canvas {
  double left = 0;
  double top = 0;
  double per_pixel_x = 1;
  double per_pixel_y = 1;

  [[nodiscard]] Box box(const Tile& tile) const {
    return {left + static_cast<double>(tile.x.begin) * per_pixel_x,
            top + static_cast<double>(tile.y.begin) * per_pixel_y,
            static_cast<double>(tile.x.length()) * per_pixel_x,
            static_cast<double>(tile.y.length()) * per_pixel_y};
  }
};

// The rectangles into which the edges of all tiles cut the image.
std::vector<Tile> cells_of(const Wall& wall) {
  std::set<int64_t> xs;
  std::set<int64_t> ys;
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    const Tile tile = wall.tile(reader);
    xs.insert({tile.x.begin, tile.x.end});
    ys.insert({tile.y.begin, tile.y.end});
  }
  std::vector<Tile> cells;
  for (auto y = ys.begin(); std::next(y) != ys.end(); ++y) {
    for (auto x = xs.begin(); std::next(x) != xs.end(); ++x) {
      cells.push_back({{*x, *std::next(x)}, {*y, *std::next(y)}});
    }
  }
  return cells;
}

Object object_at(const Wall& wall, const Shown& shown, const Tile& cell) {
  const int64_t byte = wall.byte_of(cell.x.begin, cell.y.begin);
  const auto met = shown.objects.meeting({byte, byte + 1});
  return met.empty() ? Object{{byte, byte}, object::kNobody} : met.front();
}

std::string text_class(int64_t sharers) {
  return fmt::format("mid t{}", std::min<int64_t>(sharers, 5));
}

int64_t number_of(const Shown& shown, const Object& object) {
  const auto before = shown.objects.meeting({shown.objects.range().begin, object.bytes.end});
  return static_cast<int64_t>(before.size()) - 1;
}

// A cell of a small wall, with what is in it written on it.
void draw_labelled_cell(Svg& svg, const Shown& shown, const Object& object, const Box& box) {
  const int64_t sharers = sharer_count(shown, object.sharers);
  const int64_t number = number_of(shown, object);
  svg.begin_hot(object_title(shown, number, object));
  svg.rect(box, "o " + sharing_class(sharers));
  svg.text({box.center_x(), box.center_y() - 10}, fmt::format("O{}", number),
           "big " + text_class(sharers));
  svg.text({box.center_x(), box.center_y() + 7}, interval_text(object.bytes), text_class(sharers));
  svg.text({box.center_x(), box.center_y() + 23}, sharers_text(shown, object.sharers),
           text_class(sharers));
  svg.end_hot();
}

void draw_map_cell(Svg& svg, const Shown& shown, const Object& object, const Box& box,
                   const object::Family& family) {
  const int64_t sharers = sharer_count(shown, object.sharers);
  svg.begin_hot(fmt::format("{} {}\n{} bytes in {} of {}", sharers > 1 ? "shared by" : "private to",
                            sharers_text(shown, object.sharers), with_commas(family.bytes.size()),
                            counted(family.object_count(), "object"),
                            size_text(object.bytes.length())));
  svg.rect(box, "o thin " + sharing_class(sharers));
  svg.end_hot();
}

constexpr double kWidth = 1000;

}  // namespace

std::string tiles_picture(const Wall& wall, const Shown& readers) {
  constexpr double kRowHeight = 100;
  const Canvas canvas{20, 24, (kWidth - 40) / static_cast<double>(wall.width()), kRowHeight};
  Svg svg(kWidth, 48 + kRowHeight * static_cast<double>(wall.height()),
          "The image, its objects and the tiles of the readers");
  for (const Tile& cell : cells_of(wall)) {
    draw_labelled_cell(svg, readers, object_at(wall, readers, cell), canvas.box(cell));
  }
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    const bool top = reader < wall.columns;
    const Box box = canvas.box(wall.tile(reader)).inset(4 + 3.5 * static_cast<double>(reader));
    const std::string colour = process_colour(reader);
    svg.rect(box, "", fmt::format("fill:none;stroke:{};stroke-width:2.5", colour), 6);
    const std::string label = fmt::format(
        "{} on screen {}", name_of(readers, static_cast<object::Process>(reader)), reader);
    const bool left = reader % wall.columns == 0;
    svg.text(
        {left ? canvas.left + 4 : kWidth - 24,
         top ? canvas.top - 8 : canvas.top + kRowHeight * static_cast<double>(wall.height()) + 17},
        label, left ? "" : "end", fmt::format("fill:{}", colour));
  }
  return svg.finish();
}

std::string rows_picture(const Wall& wall, const Shown& writers) {
  constexpr double kRowHeight = 40;
  const Canvas canvas{20, 6, (kWidth - 40) / static_cast<double>(wall.width()), kRowHeight};
  Svg svg(kWidth, 12 + kRowHeight * static_cast<double>(wall.height()),
          "The image and the rows of the writers");
  for (const Object& object : writers.objects.meeting(writers.objects.range())) {
    const Tile rows{{0, wall.width()},
                    {object.bytes.begin / wall.row_bytes(), object.bytes.end / wall.row_bytes()}};
    const Box box = canvas.box(rows);
    const int64_t sharers = sharer_count(writers, object.sharers);
    svg.begin_hot(object_title(writers, number_of(writers, object), object));
    svg.rect(box, "o " + sharing_class(sharers));
    svg.text(
        {box.center_x(), box.center_y() + 5},
        fmt::format("{}  {}", sharers_text(writers, object.sharers), interval_text(object.bytes)),
        text_class(sharers));
    svg.end_hot();
  }
  return svg.finish();
}

std::string wall_picture(const Wall& wall, const Shown& readers,
                         const std::vector<object::Family>& families) {
  std::map<object::SharersId, const object::Family*> by_sharers;
  for (const object::Family& family : families) by_sharers[family.sharers] = &family;
  const double scale = (kWidth - 4) / static_cast<double>(wall.width());
  const Canvas canvas{2, 2, scale, scale};
  Svg svg(kWidth, 4 + scale * static_cast<double>(wall.height()),
          "The wall, coloured by how many readers share each part");
  for (const Tile& cell : cells_of(wall)) {
    const Object object = object_at(wall, readers, cell);
    const auto family = by_sharers.find(object.sharers);
    if (family == by_sharers.end()) continue;
    draw_map_cell(svg, readers, object, canvas.box(cell), *family->second);
  }
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    const Box box = canvas.box(wall.tile(reader));
    svg.rect(box, "tile", "pointer-events:none", 2);
    svg.text({box.center_x(), box.center_y() + 5},
             name_of(readers, static_cast<object::Process>(reader)), "mid t1",
             "pointer-events:none");
  }
  return svg.finish();
}

}  // namespace tessera::cli
