// Levelling: evening out what the processes write, at no cost in runs.
//
// Two moves leave the number of runs as it is: the border between two of them goes to another place
// within the items that both writers hold, and a whole run goes to another process that holds all
// of it and writes neither the run before nor the one behind.
//   (V1) Every writer holds its items.
//   (V2) There are no more runs on disk, which end at gaps, than before.
//   (V3) Items go from who has more to who has less and leave the giver with no less than the taker
//        had, and the taker with no more than the giver had. So the largest load never rises, the
//        smallest never falls, and the sum of the squares of all loads falls with each move.
// Loads are numbers of items. Thread safety: a pure function.
#pragma once

#include <cstdint>

#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::owner {

// Looks at all runs again and again until no two loads differ by more than `width`, no move is
// left, or it did so a fixed number of times. The same choice gives the same result.
// Requires that writers keeps (V1) and has the items of the sharing.
// Cost: O(stretches + holders of all stretches + runs x log stretches) each time.
[[nodiscard]] Writers levelled(const Sharing& sharing, const Writers& writers, int64_t width);

}  // namespace tessera::owner
