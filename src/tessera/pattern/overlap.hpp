// The exact overlap test: do two sets have a byte in common?
//
// Decided by arithmetic on the compressed sets, without expansion and without building their
// intersection: two strided sets of any number of runs cost one run of Euclid's algorithm. Nested
// strides that differ are tested one relative displacement at a time (there are at most
// (length of a + length of b) / gcd(strides) of them) or one part at a time, whichever is less.
// Thread safety: pure functions.
#pragma once

#include "tessera/base/result.hpp"
#include "tessera/pattern/budget.hpp"
#include "tessera/pattern/byte_set.hpp"

namespace tessera::pattern {

// Runs of `length` bytes at begin, begin + stride, ... Requires 0 < length <= stride and count > 0.
struct StridedSet {
  int64_t begin = 0;
  int64_t length = 0;
  int64_t stride = 0;
  int64_t count = 0;
};

// Exact. Cost: O(log stride).
[[nodiscard]] bool overlaps(const StridedSet& a, const StridedSet& b);

// Exact, or kTooComplex; see Budget.
[[nodiscard]] base::Result<bool> overlaps(const ByteSet& a, const ByteSet& b, Budget budget = {});
// As overlaps(), with a budget for many calls.
[[nodiscard]] base::Result<bool> overlaps_within(const ByteSet& a, const ByteSet& b,
                                                 Budget& budget);

}  // namespace tessera::pattern
