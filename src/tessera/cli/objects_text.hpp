// Object sets as text: for a person at a terminal.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/cli/summary.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

// A small set is drawn and listed object by object, a large one as families, of which at most
// `families_max` are listed, the largest first; 0 lists all.
[[nodiscard]] std::string objects_text(const Shown& shown, int64_t families_max);

// The objects that meet an interval, at most kMeetingMax of them.
inline constexpr int64_t kMeetingMax = 10'000;
[[nodiscard]] std::string meeting_text(const Shown& shown, pattern::Interval at);

// The parts, also for pages.
[[nodiscard]] Table object_table(const Shown& shown);  // requires is_small()
[[nodiscard]] Table family_table(const Shown& shown, const std::vector<object::Family>& families,
                                 int64_t families_max);
[[nodiscard]] Table level_table(const Summary& summary);
[[nodiscard]] Table conflict_table(const Shown& shown, int64_t pairs_max);
// Private and shared bytes, replication, memory: a few lines.
[[nodiscard]] std::string totals_text(const Shown& shown, const Summary& summary);

// Whether there are few enough pairs of processes that share bytes for conflicts() to list them.
[[nodiscard]] bool conflicts_listable(const object::ObjectSet& objects,
                                      const std::vector<object::Family>& families);

}  // namespace tessera::cli
