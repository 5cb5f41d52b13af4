#include <fmt/core.h>

#include <algorithm>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/pictures.hpp"
#include "tessera/cli/svg.hpp"

namespace tessera::cli {

using object::Object;

namespace {

constexpr double kWidth = 1000;
constexpr double kTop = 30;
constexpr double kRow = 38;

// One of `count` boxes, evenly spread over a column of the given height.
Box spread(double x, double width, double column_height, size_t i, size_t count) {
  constexpr double kHeight = 28;
  const double each = column_height / static_cast<double>(count);
  return {x, kTop + each * (static_cast<double>(i) + 0.5) - kHeight / 2, width, kHeight};
}

void draw_box(Svg& svg, const Box& box, const std::string& label, int64_t sharers,
              const std::string& title) {
  svg.begin_hot(title);
  svg.rect(box, "o " + sharing_class(sharers), "", 4);
  svg.text({box.center_x(), box.center_y() + 5}, label,
           fmt::format("mid t{}", std::min<int64_t>(sharers, 5)));
  svg.end_hot();
}

// The copies of one section side by side inside its frame.
void draw_section(Svg& svg, const Shown& readers, const std::vector<Object>& objects,
                  const Section& section, const Box& box) {
  const double per_byte = box.width / static_cast<double>(section.at.length());
  for (const Copy& copy : section.copies) {
    const Object& object = objects[static_cast<size_t>(copy.object)];
    const Box part{box.x + per_byte * static_cast<double>(copy.at.begin - section.at.begin), box.y,
                   per_byte * static_cast<double>(copy.at.length()), box.height};
    draw_box(svg, part, fmt::format("O{}", copy.object), sharer_count(readers, object.sharers),
             fmt::format("{} at bytes {} of the readers' file",
                         object_title(readers, copy.object, object), interval_text(copy.at)));
  }
}

std::string stroke(const std::string& colour, double width) {
  return fmt::format("stroke:{};stroke-width:{};opacity:.8", colour, width);
}

struct Columns {
  double height = 0;
  std::vector<Box> written;
  std::vector<Box> objects;
  std::vector<Box> sections;
};

Columns columns_of(size_t written, size_t objects, size_t sections) {
  Columns columns;
  columns.height = kRow * static_cast<double>(std::max({written, objects, sections}));
  for (size_t i = 0; i < written; ++i) {
    columns.written.push_back(spread(10, 150, columns.height, i, written));
  }
  for (size_t i = 0; i < objects; ++i) {
    columns.objects.push_back(spread(370, 150, columns.height, i, objects));
  }
  for (size_t i = 0; i < sections; ++i) {
    columns.sections.push_back(spread(770, 220, columns.height, i, sections));
  }
  return columns;
}

void draw_links(Svg& svg, const Columns& columns, const std::vector<Lookup>& lookups,
                const std::vector<Section>& layout) {
  const auto link = [&](const Box& from, const Box& to, const std::string& style) {
    svg.curve({from.right(), from.center_y()}, {to.x, to.center_y()}, style);
  };
  for (size_t i = 0; i < lookups.size(); ++i) {
    for (const int64_t met : lookups[i].met) {
      link(columns.written[i], columns.objects[static_cast<size_t>(met)],
           stroke("var(--soft)", 1.6));
    }
  }
  for (size_t i = 0; i < layout.size(); ++i) {
    for (const Copy& copy : layout[i].copies) {
      link(columns.objects[static_cast<size_t>(copy.object)], columns.sections[i],
           stroke(process_colour(static_cast<int64_t>(i)), 1.8));
    }
  }
}

}  // namespace

std::string translator_picture(const Shown& writers, const Shown& readers,
                               const std::vector<Lookup>& lookups,
                               const std::vector<Section>& layout) {
  const std::vector<Object> objects = readers.objects.meeting(readers.objects.range());
  const Columns columns = columns_of(lookups.size(), objects.size(), layout.size());
  Svg svg(kWidth, kTop + columns.height + 6, "From written objects to the readers' file");
  svg.text({85, 18}, "written objects", "soft mid");
  svg.text({445, 18}, "reader objects they meet", "soft mid");
  svg.text({880, 18}, "sections of the readers' file", "soft mid");
  draw_links(svg, columns, lookups, layout);
  for (size_t i = 0; i < lookups.size(); ++i) {
    const Object& written = lookups[i].written;
    draw_box(svg, columns.written[i],
             sharers_text(writers, written.sharers) + "  " + interval_text(written.bytes),
             sharer_count(writers, written.sharers),
             object_title(writers, static_cast<int64_t>(i), written));
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    draw_box(svg, columns.objects[i],
             fmt::format("O{}  {}", number, interval_text(objects[i].bytes)),
             sharer_count(readers, objects[i].sharers), object_title(readers, number, objects[i]));
  }
  for (size_t i = 0; i < layout.size(); ++i) {
    draw_section(svg, readers, objects, layout[i], columns.sections[i]);
    svg.text({columns.sections[i].x - 8, columns.sections[i].y - 3},
             name_of(readers, layout[i].reader), "end big",
             fmt::format("fill:{}", process_colour(static_cast<int64_t>(i))));
  }
  return svg.finish();
}

std::string layout_picture(const Shown& readers, const std::vector<Section>& layout) {
  const std::vector<Object> objects = readers.objects.meeting(readers.objects.range());
  Svg svg(kWidth, 96, "The readers' file");
  if (layout.empty() || layout.back().at.end == 0) return svg.finish();
  const double per_byte = (kWidth - 40) / static_cast<double>(layout.back().at.end);
  for (size_t i = 0; i < layout.size(); ++i) {
    const Section& section = layout[i];
    const Box box{20 + per_byte * static_cast<double>(section.at.begin), 30,
                  per_byte * static_cast<double>(section.at.length()), 36};
    const std::string colour = process_colour(static_cast<int64_t>(i));
    draw_section(svg, readers, objects, section, box);
    svg.rect({box.x + 2, 22, box.width - 4, 4}, "", fmt::format("fill:{}", colour), 2);
    svg.text(
        {box.center_x(), 15},
        fmt::format("{} reads {}", name_of(readers, section.reader), interval_text(section.at)),
        "mid", fmt::format("fill:{}", colour));
    svg.text({box.x, 84}, with_commas(section.at.begin), "soft mid");
  }
  svg.text({kWidth - 20, 84}, with_commas(layout.back().at.end), "soft mid");
  return svg.finish();
}

}  // namespace tessera::cli
