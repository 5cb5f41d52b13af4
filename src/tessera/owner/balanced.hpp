// The policy "balanced": few runs with an imbalance of at most a bound.
//
// Rounds of four steps; the fewest intervals of all rounds count. The first round begins with the
// policy "optimal", and often nothing is left to do after its second step.
//   1. A path through the stretches (priced_path.hpp) is the cheapest if a change of the writer
//      costs one and an item costs the price of its writer. Those who have too much get dearer.
//   2. Loads are levelled where that costs no interval (levelling.hpp).
//   3. Loads are brought into a window by moving items along chains of processes
//      (load_window.hpp). That decides exactly whether the bound can be kept at all.
//   4. The items are handed over where that costs the fewest intervals (handover.hpp).
// Steps 3 and 4 are also tried without step 2.
// Thread safety: a pure function.
#pragma once

#include "tessera/base/result.hpp"
#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::owner {

// Requires max_imbalance >= 0. Fails with kNotFound, naming the smallest imbalance possible, if no
// choice keeps the bound. Cost: O(rounds x (stretches + holders of all stretches)), and in each
// round a search through the lists of holders for each process that has too much or too little.
[[nodiscard]] base::Result<Writers> balanced_writers(const Sharing& sharing, double max_imbalance);

}  // namespace tessera::owner
