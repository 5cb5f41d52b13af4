// Recognising regularity: equal parts at equal distances become repetitions.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

// Replaces stretches of the parts by repetitions where that is shorter, level by level, so that the
// rows of a plane and then the planes of a block are found. The stream stays the same. Requires
// that no part is empty or continues the one before it. Cost: O(parts x longest period looked for).
template <int D>
void recognise(std::vector<Trace<D>>& parts);

}  // namespace tessera::pattern
