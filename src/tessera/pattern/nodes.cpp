#include "tessera/pattern/nodes.hpp"

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::pattern {

namespace {

uint64_t mix(uint64_t hash, int64_t value) {
  uint64_t z = hash * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(value);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return z ^ (z >> 27);
}

template <int D>
uint64_t mix(uint64_t hash, const Point<D>& point) {
  for (int d = 0; d < D; ++d) hash = mix(hash, point[d]);
  return hash;
}

int64_t saturating_add(int64_t a, int64_t b) { return a > kMaxPosition - b ? kMaxPosition : a + b; }

// Adds one item to the derived fields of a sequence; its place and nodes are stored by the caller.
template <int D>
void account(Node<D>& node, const Point<D>& at, const Shape<D>& shape) {
  const bool first = node.size == 0;
  for (int d = 0; d < D; ++d) {
    const Interval hull = shape.hull(d);
    const int64_t lo = at[d] + hull.begin;
    const int64_t hi = at[d] + hull.end;
    const bool goes_on = first || (((node.ascending >> d) & 1U) != 0 && lo >= node.hi[d]);
    const auto bit = static_cast<uint8_t>(1U << d);
    if (goes_on && shape.ascending(d)) {
      node.ascending = static_cast<uint8_t>(node.ascending | bit);
    } else {
      node.ascending = static_cast<uint8_t>(node.ascending & ~bit);
    }
    node.lo[d] = first ? lo : std::min(node.lo[d], lo);
    node.hi[d] = first ? hi : std::max(node.hi[d], hi);
  }
  node.size = saturating_add(node.size, shape.size);
  node.runs += shape.runs();
  node.end = at + shape.end();
  node.weight = saturating_add(node.weight, shape.weight());
  node.hash = mix(mix(node.hash, at), static_cast<int64_t>(shape.hash()));
  node.depth = std::max(node.depth, base::exact_cast<uint8_t>(shape.depth() + 1));
}

template <int D>
void store_item(Node<D>& node, const Trace<D>& item) {
  account(node, item.at(), item.shape());
  node.at.push_back(item.at());
  node.begin.push_back(node.size);
  if (item.shape().node && node.item.empty()) node.item.resize(node.at.size() - 1);
  if (item.shape().node || !node.item.empty()) node.item.push_back(item.shape().node);
}

}  // namespace

template <int D>
uint64_t Shape<D>::hash() const {
  return node ? node->hash : mix(1, size);
}

template <int D>
Shape<D> make_repeat_shape(const Shape<D>& child, int64_t count, const Point<D>& stride) {
  TESSERA_ASSERT(count >= 2 && child.size > 0);
  auto node = std::make_shared<Node<D>>();
  const Point<D> last = stride * (count - 1);
  for (int d = 0; d < D; ++d) {
    const Interval hull = child.hull(d);
    node->lo[d] = hull.begin + std::min<int64_t>(0, last[d]);
    node->hi[d] = hull.end + std::max<int64_t>(0, last[d]);
    const bool ascending = child.ascending(d) && stride[d] >= hull.end;
    node->ascending = static_cast<uint8_t>(node->ascending | (ascending ? 1U << d : 0U));
  }
  node->size = child.size * count;
  node->runs = child.runs() * count;
  node->end = last + child.end();
  node->weight = saturating_add(child.weight(), 1);
  node->hash = mix(mix(mix(2, count), stride), static_cast<int64_t>(child.hash()));
  node->depth = base::exact_cast<uint8_t>(child.depth() + 1);
  node->count = count;
  node->child = child;
  node->stride = stride;
  return {node->size, std::move(node)};
}

template <int D>
Trace<D> make_sequence(std::vector<Trace<D>> parts) {
  if (parts.empty()) return {};
  if (parts.size() == 1) return parts.front();
  auto node = std::make_shared<Node<D>>();
  node->hash = 3;
  node->begin.push_back(0);
  node->at.reserve(parts.size());
  node->begin.reserve(parts.size() + 1);
  const Point<D> origin = parts.front().at();
  for (const Trace<D>& part : parts) {
    const bool dissolve = part.shape().is_sequence();
    const int64_t items = dissolve ? part.part_count() : 1;
    for (int64_t i = 0; i < items; ++i) {
      const Trace<D> item = dissolve ? part.part(i) : part;
      store_item(*node, Trace<D>(item.at() - origin, item.shape()));
    }
  }
  return Trace<D>(origin, {node->size, std::move(node)});
}

template <int D>
int64_t first_run_length(const Shape<D>& shape) {
  if (shape.is_run()) return shape.size;
  return first_run_length(shape.is_repeat() ? shape.node->child : shape.node->item_shape(0));
}

template <int D>
int64_t last_run_length(const Shape<D>& shape) {
  if (shape.is_run()) return shape.size;
  if (shape.is_repeat()) return last_run_length(shape.node->child);
  return last_run_length(shape.node->item_shape(shape.node->at.size() - 1));
}

template struct Shape<1>;
template struct Shape<2>;
template struct Shape<3>;
template Shape<1> make_repeat_shape(const Shape<1>&, int64_t, const Point<1>&);
template Shape<2> make_repeat_shape(const Shape<2>&, int64_t, const Point<2>&);
template Shape<3> make_repeat_shape(const Shape<3>&, int64_t, const Point<3>&);
template Trace<1> make_sequence(std::vector<Trace<1>>);
template Trace<2> make_sequence(std::vector<Trace<2>>);
template Trace<3> make_sequence(std::vector<Trace<3>>);
template int64_t first_run_length(const Shape<1>&);
template int64_t first_run_length(const Shape<2>&);
template int64_t first_run_length(const Shape<3>&);
template int64_t last_run_length(const Shape<1>&);
template int64_t last_run_length(const Shape<2>&);
template int64_t last_run_length(const Shape<3>&);

}  // namespace tessera::pattern
