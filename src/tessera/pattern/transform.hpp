// Transforms: traces with other coordinates, built alike.
//
// A linear map takes every offset of a trace (origins, strides, places of items) to a point of
// another dimension; it must map "one byte further in all coordinates" to the same, so runs stay
// runs. Adding coordinates keeps the nodes as they are; dropping some may let runs continue each
// other, which transform() then joins. Thread safety: pure functions.
#pragma once

#include <unordered_map>

#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

// Transforms one trace or many; a shape that occurs in several places is transformed once, so that
// the results share what the traces share. Requires that map is linear and takes (1, ..., 1) to
// (1, ..., 1), and that every trace outlives the transformer.
template <int To, int From, typename Map>
class Transformer {
 public:
  explicit Transformer(const Map& map) : map_(map) {}

  // Cost: O(nodes and items).
  [[nodiscard]] Trace<To> operator()(const Trace<From>& trace) {
    return Trace<To>(map_(trace.at()), shape_of(trace.size(), trace.shape().node));
  }

 private:
  Shape<To> shape_of(int64_t size, const NodePtr<From>& node) {
    if (node == nullptr) return {size, nullptr};
    // Whoever else holds a node may be looked at too.
    const bool shared = node.use_count() > 1;
    if (shared) {
      const auto known = known_.find(node.get());
      if (known != known_.end()) return known->second;
    }
    Shape<To> shape = node->count != 0 ? repeat_of(*node) : sequence_of(*node);
    if (shared) known_.emplace(node.get(), shape);
    return shape;
  }

  Shape<To> repeat_of(const Node<From>& node) {
    const Trace<To> child({}, shape_of(node.child.size, node.child.node));
    return repeat_in_bounds(child, node.count, map_(node.stride)).shape();
  }

  Shape<To> sequence_of(const Node<From>& node) {
    static const NodePtr<From> kRun;
    Assembler<To> sequence;
    for (size_t i = 0; i < node.at.size(); ++i) {
      const NodePtr<From>& item = node.item.empty() ? kRun : node.item[i];
      sequence.append(
          Trace<To>(map_(node.at[i]), shape_of(node.begin[i + 1] - node.begin[i], item)));
    }
    return sequence.finish_in_bounds().shape();
  }

  Map map_;
  std::unordered_map<const Node<From>*, Shape<To>> known_;
};

// One trace. Requires what Transformer does. Cost: O(nodes and items).
template <int To, int From, typename Map>
[[nodiscard]] Trace<To> transform(const Trace<From>& trace, const Map& map) {
  return Transformer<To, From, Map>(map)(trace);
}

// The trace with its stream offset as a new first coordinate.
template <int D>
[[nodiscard]] Trace<D + 1> with_stream(const Trace<D>& trace, int64_t offset = 0);

}  // namespace tessera::pattern
