#include "tessera/cli/demo_page.hpp"

#include <fmt/core.h>

#include "tessera/cli/demo_text.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/objects_text.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/pictures.hpp"

namespace tessera::cli {

namespace {

void add_example_sets(Page& page, const SmallDemo& demo) {
  page.heading("The example: 60x3 pixels, three writers, four readers");
  page.paragraph(
      "Three tile writers store an image by rows; nothing is shared (the paper's Figure 4).");
  page.figure(rows_picture(demo.wall, demo.writers),
              "Figure 4 of the paper: the writers' object set. Each row of 60 pixels, one byte "
              "each, is private "
              "to its writer.");
  page.paragraph(
      "Four tile readers each show 40x2 pixels on a screen. Neighbouring screens overlap, so their "
      "views cut the same 180 bytes into nine objects: one that all four share, four that two "
      "share, "
      "and four private ones.");
  page.figure(tiles_picture(demo.wall, demo.readers),
              "Figure 5 of the paper: the readers' object set on the image, with the outlines of "
              "the four tiles. "
              "The paper misprints object 8, which is [160, 180).");
  page.legend({1, 2, 4});
  page.figure(
      line_picture(demo.readers),
      "The same on the line of the file: four views above, and the objects into which their "
      "ends cut the file.");
  page.table(object_table(demo.readers));
}

void add_translation(Page& page, const SmallDemo& demo) {
  page.heading("The translator");
  page.paragraph(
      "A written object becomes parts of several reader objects. The translator finds them in an "
      "index of the readers' objects; the paper uses a tree whose nodes halve the file.");
  page.figure(tree_picture(demo.readers),
              "Figure 6 of the paper: the readers' objects in the interval tree. Each node halves "
              "what is left of "
              "the file on its side; an object lies at the first node whose position it holds.");
  page.figure(translator_picture(demo.writers, demo.readers, demo.lookups, demo.layout),
              "Figure 7 of the paper: from what the writers store to what the readers read. The "
              "row of TW0, bytes "
              "[0, 60), meets the objects O0, O1 and O2.");
  page.table(lookup_table(demo));
  page.paragraph(
      "The readers' file holds the objects of each reader one after another, the shared ones once "
      "for each of their readers. It is larger, and every reader reads one run.");
  page.figure(
      layout_picture(demo.readers, demo.layout),
      "Figure 8 of the paper: the layout after the transformation, 320 bytes for an image of 180.");
  page.table(layout_table(demo));
}

void add_wall(Page& page, const LargeDemo& demo) {
  const Wall& wall = demo.wall;
  page.heading(fmt::format("The wall: {}x{} screens of {}x{} pixels", wall.columns, wall.rows,
                           wall.tile_width, wall.tile_height));
  page.paragraph(fmt::format(
      "The largest wall of the paper's section IV: pixels of {} bytes, tiles that overlap by {}x{} "
      "pixels, {} readers, and {} writers that store the image by rows. Tessera keeps {} objects "
      "as "
      "{} families, one compressed pattern for each set of sharers.",
      wall.pixel_bytes, wall.overlap_width, wall.overlap_height, wall.readers(), demo.writer_count,
      with_commas(demo.summary.objects), demo.families.size()));
  page.facts(
      {{size_text(wall.file_bytes()), "the image file"},
       {with_commas(demo.summary.objects), "objects"},
       {with_commas(static_cast<int64_t>(demo.families.size())), "families"},
       {duration_text(demo.build_ns), "to build the set of all readers"},
       {size_text(demo.readers.objects.memory_bytes()), "memory of the set"},
       {percent(demo.summary.shared_bytes, demo.summary.viewed_bytes()), "of it is shared"},
       {fmt::format("{:.3f}", demo.summary.replication()), "replication in the readers' file"},
       {fmt::format("{} to 1", with_commas(wall.tile_height)), "runs to read one tile"}});
  page.figure(
      wall_picture(wall, demo.readers, demo.families),
      "Who shares which pixels. Outlines are the tiles; point at a part to see its readers, "
      "bytes and objects.");
  page.legend({1, 2, 4});
  page.table(level_table(demo.summary));
}

void add_runs(Page& page, const std::vector<WallRun>& runs) {
  page.heading("The wall under MPI");
  page.paragraph(
      "An unmodified MPI program on this machine: every rank writes its rows, then reads its tile "
      "and verifies every pixel. From open to close, the slowest rank, best of ten; the stock "
      "MPI-IO of each MPI beside Tessera's.");
  page.table(wall_run_table(runs));
}

void add_wall_details(Page& page, const LargeDemo& demo) {
  constexpr int64_t kPairs = 8;
  page.heading("Who conflicts with whom");
  page.paragraph(
      "Pairs of readers that share bytes, the largest first. Only these objects would ever "
      "need a lock.");
  page.table(conflict_table(demo.readers, kPairs));
  page.heading("What each writer meets");
  page.paragraph(fmt::format(
      "The translator's lookup for all {} writers took {}: every written block of rows, the reader "
      "objects it meets and the readers that need part of it.",
      demo.writer_count, duration_text(demo.reach_ns)));
  Table table({{"writer", Table::Align::kLeft},
               {"bytes", Table::Align::kLeft},
               {"reader objects met", Table::Align::kRight},
               {"readers reached", Table::Align::kRight}});
  for (size_t i = 0; i < demo.reach.size(); i += 11) {
    const WriterReach& reach = demo.reach[i];
    table.add({name_of(demo.writers, reach.writer), interval_text(reach.bytes),
               with_commas(reach.objects), std::to_string(reach.readers.size())});
  }
  page.table(table);
}

}  // namespace

std::string demo_page(const Demo& demo) {
  Page page(
      "Tessera: who shares which bytes",
      "A parallel program does not see a file as one line of bytes. Each process sees a part of "
      "it, its view, and the views of all cut the file into objects: runs of bytes that the "
      "same processes share. This page takes the tile wall of Logan and Dickens, \"Improving "
      "I/O Performance through the Dynamic Remapping of Object Sets\", from writers to readers.");
  add_example_sets(page, demo.small);
  add_translation(page, demo.small);
  add_wall(page, demo.large);
  add_wall_details(page, demo.large);
  add_runs(page, demo.runs);
  return page.html();
}

}  // namespace tessera::cli
