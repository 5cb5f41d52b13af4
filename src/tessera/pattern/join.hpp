// Joins: two ordered patterns of one stream, walked together.
//
// A Join is the stream of pairs (position in P, position in Q), byte by byte, compressed where both
// are regular. A view with a buffer, a mapping of a file onto an allocation, a packed message with
// its place are all joins; looking up a map, overwriting part of it, packing, remapping and
// scattering are restrict() and match() of them. Coordinate 0 is P, coordinate 1 is Q.
// Thread safety: pure functions on values.
#pragma once

#include "tessera/base/result.hpp"
#include "tessera/pattern/budget.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

using Join = Trace<2>;

// Pairs the i-th byte of p with the i-th byte of q. Fails with kInvalid if their sizes differ, with
// kTooComplex as Budget says. Cost: O(parts of the coarser one); where one period of both fits into
// the stream several times, O(parts in that period).
[[nodiscard]] base::Result<Join> join(const Pattern& p, const Pattern& q, Budget budget = {});

// Every byte of a set paired with itself.
[[nodiscard]] Join identity(const ByteSet& set);

// The pairs whose first position is in the set, in stream order.
[[nodiscard]] base::Result<Join> restrict(const Join& pairs, const ByteSet& set,
                                          Budget budget = {});

// The pairs (y, z) for which (x, y) is in `a` and (x, z) in `b`, in the order of `a`: composition
// over the common first coordinate. Requires that b ascends in x, else fails with kInvalid.
[[nodiscard]] base::Result<Join> match(const Join& a, const Join& b, Budget budget = {});

// The pairs turned round.
[[nodiscard]] Join swapped(const Join& pairs);

// One side of the pairs, in stream order.
[[nodiscard]] Pattern side(const Join& pairs, int coordinate);

// The bytes of `pattern` whose stream offsets `stream` lists, in the order of `stream`.
[[nodiscard]] base::Result<Pattern> select(const Pattern& pattern, const Pattern& stream,
                                           Budget budget = {});

// The stream offsets at which an ascending or other pattern has bytes of the set.
[[nodiscard]] base::Result<ByteSet> locate(const Pattern& pattern, const ByteSet& set,
                                           Budget budget = {});

}  // namespace tessera::pattern
