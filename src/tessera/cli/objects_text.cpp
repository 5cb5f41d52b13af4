#include "tessera/cli/objects_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "tessera/cli/line_drawing.hpp"
#include "tessera/cli/numbers.hpp"

namespace tessera::cli {

using object::Conflict;
using object::Family;
using object::Object;
using Align = Table::Align;

namespace {

constexpr int64_t kPairsMax = int64_t{1} << 20;
constexpr int64_t kPairsShown = 12;

std::string kind_of(const Shown& shown, object::SharersId sharers) {
  return shown.objects.is_shared(sharers) ? "shared" : "private";
}

std::string heading(const Shown& shown, const Summary& summary) {
  return fmt::format("{}: {} over bytes {}, {}\n\n", shown.title,
                     counted(static_cast<int64_t>(shown.objects.processes().size()), "view"),
                     interval_text(shown.objects.range()), counted(summary.objects, "object"));
}

std::string conflicts_text(const Shown& shown, const std::vector<Family>& families) {
  if (!conflicts_listable(shown.objects, families)) {
    return "\nconflicts: too many pairs of views share bytes to list them\n";
  }
  const Table table = conflict_table(shown, kPairsShown);
  if (table.rows().empty()) return "\nno two views share a byte\n";
  return "\nconflicts (pairs of views that share bytes)\n" + table.text();
}

std::string families_text(const Shown& shown, const std::vector<Family>& families,
                          int64_t families_max) {
  const auto count = static_cast<int64_t>(families.size());
  std::string text =
      fmt::format("\n{}\n", counted(count, "family") + " (objects with the same sharers)");
  text += family_table(shown, families, families_max).text();
  if (families_max > 0 && count > families_max) {
    text += fmt::format("  ... and {} more; --families 0 prints all\n", count - families_max);
  }
  return text;
}

Table empty_object_table() {
  return Table({{"object", Align::kRight},
                {"bytes", Align::kLeft},
                {"size", Align::kRight},
                {"kind", Align::kLeft},
                {"sharers", Align::kLeft}});
}

void add_object(Table& table, const Shown& shown, const std::string& number, const Object& object) {
  table.add({number, interval_text(object.bytes), with_commas(object.bytes.length()),
             kind_of(shown, object.sharers), sharers_text(shown, object.sharers)});
}

}  // namespace

Table object_table(const Shown& shown) {
  Table table = empty_object_table();
  const std::vector<Object> objects = shown.objects.meeting(shown.objects.range());
  for (size_t i = 0; i < objects.size(); ++i) {
    add_object(table, shown, std::to_string(i), objects[i]);
  }
  return table;
}

Table family_table(const Shown& shown, const std::vector<Family>& families, int64_t families_max) {
  std::vector<const Family*> order;
  for (const Family& family : families) order.push_back(&family);
  std::stable_sort(order.begin(), order.end(), [](const Family* a, const Family* b) {
    return a->bytes.size() > b->bytes.size();
  });
  Table table({{"bytes", Align::kRight},
               {"objects", Align::kRight},
               {"first object", Align::kLeft},
               {"kind", Align::kLeft},
               {"sharers", Align::kLeft}});
  for (const Family* family : order) {
    if (families_max > 0 && table.rows().size() >= static_cast<size_t>(families_max)) break;
    const auto first =
        shown.objects.meeting({family->bytes.span().begin, family->bytes.span().begin + 1});
    table.add({with_commas(family->bytes.size()), with_commas(family->object_count()),
               interval_text(first.front().bytes), kind_of(shown, family->sharers),
               sharers_text(shown, family->sharers)});
  }
  return table;
}

Table level_table(const Summary& summary) {
  Table table({{"sharers", Align::kRight},
               {"families", Align::kRight},
               {"objects", Align::kRight},
               {"bytes", Align::kRight},
               {"of what is viewed", Align::kRight}});
  for (const SharingLevel& level : summary.levels) {
    table.add({std::to_string(level.sharers), with_commas(level.families),
               with_commas(level.objects), with_commas(level.size_bytes),
               percent(level.size_bytes, summary.viewed_bytes())});
  }
  return table;
}

bool conflicts_listable(const object::ObjectSet& objects, const std::vector<Family>& families) {
  int64_t pairs = 0;
  for (const Family& family : families) {
    const auto sharers = static_cast<int64_t>(objects.sharers(family.sharers).size());
    pairs += sharers * (sharers - 1) / 2;
    if (pairs > kPairsMax) return false;
  }
  return true;
}

Table conflict_table(const Shown& shown, int64_t pairs_max) {
  std::vector<Conflict> conflicts = shown.objects.conflicts();
  std::stable_sort(conflicts.begin(), conflicts.end(), [](const Conflict& a, const Conflict& b) {
    return a.size_bytes > b.size_bytes;
  });
  Table table({{"views", Align::kLeft}, {"bytes", Align::kRight}, {"objects", Align::kRight}});
  for (const Conflict& conflict : conflicts) {
    const auto listed = static_cast<int64_t>(table.rows().size());
    if (listed >= pairs_max) {
      const auto left = static_cast<int64_t>(conflicts.size()) - listed;
      table.add({fmt::format("... and {} more pairs", with_commas(left)), "", ""});
      break;
    }
    table.add({name_of(shown, conflict.first) + " " + name_of(shown, conflict.second),
               with_commas(conflict.size_bytes), with_commas(conflict.object_count)});
  }
  return table;
}

std::string totals_text(const Shown& shown, const Summary& summary) {
  const int64_t private_objects = summary.objects - summary.shared_objects;
  std::string text;
  text += fmt::format("  private      {} bytes in {} ({} of what is viewed)\n",
                      with_commas(summary.private_bytes), counted(private_objects, "object"),
                      percent(summary.private_bytes, summary.viewed_bytes()));
  text += fmt::format("  shared       {} bytes in {} ({})\n", with_commas(summary.shared_bytes),
                      counted(summary.shared_objects, "object"),
                      percent(summary.shared_bytes, summary.viewed_bytes()));
  if (summary.unviewed_bytes() > 0) {
    text += fmt::format("  in no view   {} bytes\n", with_commas(summary.unviewed_bytes()));
  }
  text += fmt::format("  replication  {:.3f} (a copy for each view takes {} bytes)\n",
                      summary.replication(), with_commas(summary.views_bytes));
  text += fmt::format("  memory       {} for the object set\n",
                      size_text(shown.objects.memory_bytes()));
  return text;
}

std::string objects_text(const Shown& shown, int64_t families_max) {
  const std::vector<Family> families = shown.objects.families();
  const Summary summary = summarise(shown.objects, families);
  std::string text = heading(shown, summary);
  if (is_small(shown.objects)) {
    text += draw_objects(shown) + "\n" + object_table(shown).text();
  } else {
    text += draw_sharing(shown) + "\n" + level_table(summary).text();
    text += families_text(shown, families, families_max);
  }
  return text + "\n" + totals_text(shown, summary) + conflicts_text(shown, families);
}

std::string meeting_text(const Shown& shown, pattern::Interval at) {
  Table table = empty_object_table();
  bool more = false;
  shown.objects.for_each_meeting(at, [&](const Object& object) {
    more = table.rows().size() >= static_cast<size_t>(kMeetingMax);
    if (!more) add_object(table, shown, std::to_string(table.rows().size()), object);
    return !more;
  });
  std::string text = fmt::format("{}: objects that meet {}\n\n", shown.title, interval_text(at));
  if (table.rows().empty()) return text + "  none: no view holds any of these bytes\n";
  text += table.text();
  if (more) text += fmt::format("  ... and more; these are the first {}\n", kMeetingMax);
  return text;
}

}  // namespace tessera::cli
