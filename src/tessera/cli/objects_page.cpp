#include "tessera/cli/objects_page.hpp"

#include <fmt/core.h>

#include <vector>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/objects_text.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/pictures.hpp"

namespace tessera::cli {

namespace {

constexpr int64_t kFamiliesMax = 500;
constexpr int64_t kPairsMax = 100;

std::vector<int64_t> levels_of(const Summary& summary) {
  std::vector<int64_t> levels;
  if (summary.unviewed_bytes() > 0) levels.push_back(0);
  for (const SharingLevel& level : summary.levels) levels.push_back(level.sharers);
  return levels;
}

void add_facts(Page& page, const Shown& shown, const Summary& summary) {
  page.facts({{with_commas(static_cast<int64_t>(shown.objects.processes().size())), "views"},
              {with_commas(summary.objects), "objects"},
              {size_text(summary.private_bytes), "private"},
              {size_text(summary.shared_bytes), "shared"},
              {fmt::format("{:.3f}", summary.replication()), "replication"},
              {size_text(shown.objects.memory_bytes()), "memory of the object set"}});
}

void add_conflicts(Page& page, const Shown& shown, const std::vector<object::Family>& families) {
  page.heading("Conflicts");
  if (!conflicts_listable(shown.objects, families)) {
    page.paragraph("Too many pairs of views share bytes to list them.");
    return;
  }
  const Table table = conflict_table(shown, kPairsMax);
  if (table.rows().empty()) {
    page.paragraph("No two views share a byte.");
  } else {
    page.paragraph("Pairs of views that share bytes. Only their objects ever need a lock.");
    page.table(table);
  }
}

}  // namespace

std::string objects_page(const Shown& shown) {
  const auto families = shown.objects.families();
  const Summary summary = summarise(shown.objects, families);
  Page page("Who shares which bytes",
            fmt::format("The views in {} cut the bytes {} into objects: runs of bytes that the "
                        "same processes share.",
                        shown.title, interval_text(shown.objects.range())));
  add_facts(page, shown, summary);
  const bool small = is_small(shown.objects);
  page.figure(small ? line_picture(shown) : strip_picture(shown),
              small ? std::string("The views, and the objects into which they cut the file. Point "
                                  "at an object to see its bytes and sharers.")
                    : fmt::format("The file from left to right, coloured by the largest number of "
                                  "views that share a byte, of the first {} objects in each place.",
                                  with_commas(kLookedAtMax)));
  page.legend(levels_of(summary));
  page.heading(small ? "Objects" : "Families: objects with the same sharers");
  if (small) {
    page.table(object_table(shown));
  } else {
    page.table(level_table(summary));
    page.table(family_table(shown, families, kFamiliesMax));
  }
  add_conflicts(page, shown, families);
  return page.html();
}

}  // namespace tessera::cli
