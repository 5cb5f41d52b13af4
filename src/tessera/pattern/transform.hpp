// Transforms: traces with other coordinates, built alike.
//
// A linear map takes every offset of a trace (origins, strides, places of items) to a point of
// another dimension; it must map "one byte further in all coordinates" to the same, so runs stay
// runs. Adding coordinates keeps the nodes as they are; dropping some may let runs continue each
// other, which transform() then joins. Thread safety: pure functions.
#pragma once

#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

// Requires that map is linear and takes (1, ..., 1) to (1, ..., 1). Cost: O(nodes and items).
template <int To, int From, typename Map>
[[nodiscard]] Trace<To> transform(const Trace<From>& trace, const Map& map) {
  const Point<To> at = map(trace.at());
  if (trace.shape().is_run()) return Trace<To>(at, {trace.size(), nullptr});
  const Node<From>& node = *trace.shape().node;
  if (trace.shape().is_repeat()) {
    const Trace<To> child = transform<To>(Trace<From>(trace.at(), node.child), map);
    return repeat_in_bounds(child, node.count, map(node.stride));
  }
  Assembler<To> sequence;
  for (int64_t i = 0; i < node.item_count(); ++i) {
    sequence.append(transform<To>(trace.part(i), map));
  }
  return sequence.finish_in_bounds();
}

// The trace with its stream offset as a new first coordinate.
template <int D>
[[nodiscard]] Trace<D + 1> with_stream(const Trace<D>& trace, int64_t offset = 0);

}  // namespace tessera::pattern
