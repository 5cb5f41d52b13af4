// The choice of a collective way, from the picture that all ranks share.
//
// Moves of long runs that lie apart gain nothing from each other: every rank executes its own.
// Short runs that interleave cost a request each, or the bytes between them; together the ranks
// move them as a few large transfers, at the price of a copy and of meeting.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>

#include "tessera/move/collective_summary.hpp"
#include "tessera/move/window_schedule.hpp"

namespace tessera::move {

enum class Way { kSeparately, kTogether, kUndecided };

struct WayChoice {
  Way way = Way::kUndecided;
  std::string reason;
  double rank_ns = 0;  // a rank's part of what moving together takes, if that was compared
};

// What hints say, or the lack of anything to choose; nothing if neither decides.
[[nodiscard]] std::optional<WayChoice> way_by_hints(const Picture& picture);

// For the ranks of one node; node_choice.hpp is for those of several.
// What the picture alone tells: hints, and moves for which meeting can only cost. kUndecided asks
// for a schedule.
[[nodiscard]] WayChoice choose_way(const Picture& picture, Direction direction);

// What the first rounds tell: kSeparately or kTogether.
[[nodiscard]] WayChoice choose_way(const Picture& picture, const Schedule& schedule,
                                   Direction direction);

// "131072 runs of 8 bytes fill 25 % of 4.0 MiB"
[[nodiscard]] std::string describe(const Picture& picture);

}  // namespace tessera::move
