// Zip: two traces walked together along their first coordinate, the key.
//
// The one operation that everything else is made of: the join of two streams (the key is the stream
// offset), its restriction to a set of bytes and the intersection of sets (the key is the byte),
// the overlay of lines (the key is the byte, the second coordinates carry labels). The result has,
// for every byte of `a` whose key also occurs in `b`, all coordinates of a followed by those of b
// but its key, in the order of a.
//
// Where both sides repeat, one common period (the least common multiple of their strides) is zipped
// and repeated; otherwise the side with fewer parts is taken apart and the other one clipped to
// each of them. So the cost follows the coarser side, not the bytes or the runs of the finer one.
// Thread safety: pure functions.
#pragma once

#include "tessera/base/result.hpp"
#include "tessera/pattern/budget.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

// Requires b.ascending(0). Exact, or kTooComplex once the budget is spent.
template <int A, int B>
[[nodiscard]] base::Result<Trace<A + B - 1>> zip(const Trace<A>& a, const Trace<B>& b,
                                                 Budget& budget);

}  // namespace tessera::pattern
