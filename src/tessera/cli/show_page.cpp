#include "tessera/cli/show_page.hpp"

#include <fmt/core.h>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/objects_text.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/pictures.hpp"
#include "tessera/cli/show_text.hpp"

namespace tessera::cli {

namespace {

constexpr size_t kWritersMax = 500;

void add_facts(Page& page, const ObjectFileFacts& facts) {
  page.facts({{size_text(facts.superblock.logical_size), "of the file"},
              {size_text(facts.container_bytes), "of the container"},
              {std::to_string(facts.superblock.sequence), "commits"},
              {with_commas(std::ssize(facts.writers)), "writers"},
              {with_commas(facts.allocations), "allocations"},
              {with_commas(facts.runs), "runs of the map"},
              {size_text(facts.mean_run()), "mean run"},
              {size_text(facts.hole_bytes()), "that nobody wrote"},
              {size_text(facts.replica_bytes), "stored once more"},
              {size_text(facts.dead_bytes), "not visible any more"},
              {size_text(facts.free_bytes), "free in between"}});
}

void add_views(Page& page, const Shown& shown) {
  const auto families = shown.objects.families();
  const Summary summary = summarise(shown.objects, families);
  page.heading("What the views share");
  page.paragraph(
      "The recorded views of the writers cut the file into objects: runs of bytes that "
      "the same processes share.");
  page.table(level_table(summary));
  page.figure(is_small(shown.objects) ? line_picture(shown) : strip_picture(shown),
              "The file from left to right, coloured by how many views share a byte.");
  std::vector<int64_t> levels;
  if (summary.unviewed_bytes() > 0) levels.push_back(0);
  for (const SharingLevel& level : summary.levels) levels.push_back(level.sharers);
  page.legend(levels);
}

}  // namespace

std::string show_page(const ObjectFileFacts& facts, const container::Contents& contents) {
  Page page("Where the bytes lie",
            fmt::format("{} is an object file: its writers stored what each of them wrote in "
                        "allocations of one container, and a map tells which byte is where. File "
                        "{}, commit {}.",
                        facts.path, id_text(facts.superblock.file_id), facts.superblock.sequence));
  add_facts(page, facts);
  page.heading("In the order of the file");
  page.figure(file_order_picture(facts, contents),
              "The file from left to right, a row for each writer: the darker, the more of the "
              "bytes at a place are its. Point at a place to see which bytes.");
  page.heading("In the order of the container");
  page.figure(container_order_picture(facts, contents),
              "The same bytes as they are stored, and what else is in the container.");
  page.heading("Writers");
  page.table(writer_table(facts, kWritersMax));
  if (facts.objects) add_views(page, *facts.objects);
  return page.html();
}

}  // namespace tessera::cli
