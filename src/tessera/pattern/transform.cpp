#include "tessera/pattern/transform.hpp"

#include "tessera/pattern/nodes.hpp"

namespace tessera::pattern {

namespace {

template <int D>
Point<D + 1> prepend(int64_t first, const Point<D>& rest) {
  Point<D + 1> point;
  point[0] = first;
  for (int d = 0; d < D; ++d) point[d + 1] = rest[d];
  return point;
}

}  // namespace

template <int D>
Trace<D + 1> with_stream(const Trace<D>& trace, int64_t offset) {
  const Point<D + 1> at = prepend(offset, trace.at());
  if (trace.shape().is_run()) return Trace<D + 1>(at, {trace.size(), nullptr});
  const Node<D>& node = *trace.shape().node;
  if (trace.shape().is_repeat()) {
    const Trace<D + 1> child = with_stream(Trace<D>(trace.at(), node.child), offset);
    return Trace<D + 1>(
        at, make_repeat_shape(child.shape(), node.count, prepend(node.child.size, node.stride)));
  }
  std::vector<Trace<D + 1>> items;
  items.reserve(node.at.size());
  for (size_t i = 0; i < node.at.size(); ++i) {
    const Trace<D> item(trace.at() + node.at[i], node.item_shape(i));
    items.push_back(with_stream(item, offset + node.begin[i]));
  }
  return make_sequence(std::move(items));
}

template Trace<2> with_stream(const Trace<1>&, int64_t);
template Trace<3> with_stream(const Trace<2>&, int64_t);

}  // namespace tessera::pattern
