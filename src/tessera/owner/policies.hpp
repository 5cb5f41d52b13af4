// The policies of writers.hpp that need one look at each stretch.
//
// idg: the pseudocode of paper 2 compares with the partition of the item before, but its Table 2
// follows only if that is the one chosen for writing it, and so it is here.
// Where there is a gap before or behind an item, nothing is before or behind it to continue.
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::owner {

// Cost of each: O(stretches + holders of all stretches); random_writers() O(items).
[[nodiscard]] Writers home_writers(const Sharing& sharing);
[[nodiscard]] Writers random_writers(const Sharing& sharing, uint64_t seed);
[[nodiscard]] Writers first_writers(const Sharing& sharing);
[[nodiscard]] Writers idg_writers(const Sharing& sharing);
// Among the choices with the fewest runs one in which each run is written by the process, of those
// who can, that wrote last, so that regular views have regular shares; or by the one that had least
// to write until then, where the other had more by a 32nd of the average.
[[nodiscard]] Writers optimal_writers(const Sharing& sharing);

}  // namespace tessera::owner
