#include "tessera/cli/demo_text.hpp"

#include <fmt/core.h>

#include <set>
#include <vector>

#include "tessera/cli/line_drawing.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/objects_text.hpp"

namespace tessera::cli {

using Align = Table::Align;

namespace {

std::string section(const std::string& title) {
  return "\n" + title + "\n" + std::string(title.size(), '=') + "\n\n";
}

std::string object_names(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers)
    text += fmt::format("{}O{}", text.empty() ? "" : " ", number);
  return text;
}

// The names of the readers that need some of the bytes.
std::string readers_of(const Shown& readers, pattern::Interval bytes) {
  std::set<object::Process> needing;
  for (const object::Object& met : readers.objects.meeting(bytes)) {
    const auto sharers = readers.objects.sharers(met.sharers);
    needing.insert(sharers.begin(), sharers.end());
  }
  std::string text;
  for (const object::Process process : needing) {
    text += (text.empty() ? "" : " ") + name_of(readers, process);
  }
  return text;
}

std::string small_text(const SmallDemo& demo) {
  const Wall& wall = demo.wall;
  std::string text =
      section(fmt::format("The example: {}x{} pixels of one byte, {} tile writers, "
                          "{} tile readers",
                          wall.width(), wall.height(), demo.writers.names.size(), wall.readers()));
  text += "What the writers store (paper 0, Figure 4): a row each, nothing shared.\n\n";
  text += draw_objects(demo.writers) + "\n" + object_table(demo.writers).text();
  text +=
      "\nWhat the readers need (Figure 5; the paper misprints object 8, which is [160, 180)).\n\n";
  text += draw_objects(demo.readers) + "\n" + object_table(demo.readers).text();
  text +=
      "\nThe translator's lookup (Figures 6 and 7): which reader objects a written object "
      "meets.\n\n";
  text += lookup_table(demo).text();
  text +=
      "\nThe readers' file (Figure 8): each reader's objects in one run, shared ones "
      "replicated.\n\n";
  return text + layout_table(demo).text();
}

// The first and the last few writers; those between are alike.
std::string reach_text(const LargeDemo& demo) {
  constexpr size_t kShown = 3;
  Table table({{"writer", Align::kLeft},
               {"bytes", Align::kLeft},
               {"reader objects met", Align::kRight},
               {"readers reached", Align::kRight}});
  for (size_t i = 0; i < demo.reach.size(); ++i) {
    if (i == kShown) table.add({"...", "", "", ""});
    if (i >= kShown && i + kShown < demo.reach.size()) continue;
    const WriterReach& reach = demo.reach[i];
    table.add({name_of(demo.writers, reach.writer), interval_text(reach.bytes),
               with_commas(reach.objects), std::to_string(reach.readers.size())});
  }
  return table.text();
}

std::string large_text(const LargeDemo& demo) {
  const Wall& wall = demo.wall;
  std::string text =
      section(fmt::format("The wall: {}x{} screens of {}x{} pixels, {} bytes each", wall.columns,
                          wall.rows, wall.tile_width, wall.tile_height, wall.pixel_bytes));
  text +=
      fmt::format("{}x{} pixels, a file of {} bytes ({}); neighbours overlap by {}x{} pixels.\n\n",
                  wall.width(), wall.height(), with_commas(wall.file_bytes()),
                  size_text(wall.file_bytes()), wall.overlap_width, wall.overlap_height);
  text += fmt::format("What the {} readers share\n\n", wall.readers());
  text += level_table(demo.summary).text() + "\n" + totals_text(demo.readers, demo.summary);
  text += fmt::format("  built in     {} (all {} views added; fastest of {})\n",
                      duration_text(demo.build_ns), wall.readers(), kBuilds);
  text += fmt::format(
      "  one tile     {} runs of {} bytes in the writers' file, 1 run in the "
      "readers'\n",
      with_commas(wall.tile_height), with_commas(wall.tile_width * wall.pixel_bytes));
  text += fmt::format("\nWhat the {} writers meet (looked up in {})\n\n", demo.writer_count,
                      duration_text(demo.reach_ns));
  return text + reach_text(demo);
}

std::string runs_text(const std::vector<WallRun>& runs) {
  std::string text = section("The wall under MPI: an unmodified program, stock MPI-IO and Tessera");
  text +=
      "Every rank writes its rows, then reads its tile and verifies every pixel; from open to\n"
      "close, the slowest rank, best of ten.\n\n";
  return text + wall_run_table(runs).text();
}

}  // namespace

Table lookup_table(const SmallDemo& demo) {
  Table table({{"written", Align::kLeft},
               {"bytes", Align::kLeft},
               {"meets", Align::kLeft},
               {"sent to", Align::kLeft}});
  for (const Lookup& lookup : demo.lookups) {
    table.add({sharers_text(demo.writers, lookup.written.sharers),
               interval_text(lookup.written.bytes), object_names(lookup.met),
               readers_of(demo.readers, lookup.written.bytes)});
  }
  return table;
}

Table layout_table(const SmallDemo& demo) {
  Table table({{"reader", Align::kLeft},
               {"reads", Align::kLeft},
               {"objects in it", Align::kLeft},
               {"runs before", Align::kRight},
               {"runs after", Align::kRight}});
  for (const Section& part : demo.layout) {
    std::vector<int64_t> objects;
    for (const Copy& copy : part.copies) objects.push_back(copy.object);
    table.add({name_of(demo.readers, part.reader), interval_text(part.at), object_names(objects),
               std::to_string(reader_view(demo.wall, part.reader).runs()), "1"});
  }
  return table;
}

std::string demo_text(const Demo& demo) {
  return small_text(demo.small) + large_text(demo.large) + runs_text(demo.runs);
}

}  // namespace tessera::cli
