// How nodes are made. Internal to pattern/: everyone else uses repeat() and Assembler.
//
// These functions fill in what a node derives from its parts and keep (T2) and (T3); their callers
// keep (T1), (T4) and (T5). Thread safety: pure functions.
#pragma once

#include <vector>

#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

// Requires count >= 2, a shape that is not empty, and that copies do not continue each other.
template <int D>
[[nodiscard]] Shape<D> make_repeat_shape(const Shape<D>& child, int64_t count,
                                         const Point<D>& stride);

// The parts one after the other; sequences among them are dissolved. Requires that no part is empty
// or continues the one before it. Cost: O(parts and their items).
template <int D>
[[nodiscard]] Trace<D> make_sequence(std::vector<Trace<D>> parts);

template <int D>
[[nodiscard]] int64_t first_run_length(const Shape<D>& shape);
template <int D>
[[nodiscard]] int64_t last_run_length(const Shape<D>& shape);

}  // namespace tessera::pattern
