#include "tessera/pattern/trace.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_set>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/nodes.hpp"

namespace tessera::pattern {

using base::Code;
using base::fail;
using base::Result;

namespace {

bool in_bounds(Interval positions) {
  return positions.begin >= -kMaxPosition && positions.end <= kMaxPosition;
}

base::Failure out_of_bounds(const char* what) {
  return fail(
      Code::kInvalid,
      std::string(what) + " leaves the supported range of offsets, which ends at 2^62 bytes");
}

size_t item_at_offset(const std::vector<int64_t>& begin, int64_t offset) {
  return static_cast<size_t>(std::upper_bound(begin.begin(), begin.end(), offset) - begin.begin()) -
         1;
}

// The last item that starts at or before a position; requires that the first one does.
template <int D>
size_t item_at_position(const std::vector<Point<D>>& at, int64_t position, int d) {
  const auto after =
      std::upper_bound(at.begin(), at.end(), position,
                       [d](int64_t value, const Point<D>& point) { return value < point[d]; });
  return static_cast<size_t>(after - at.begin()) - 1;
}

template <int D>
void clip_into(std::vector<Trace<D>>& out, const Trace<D>& trace, Interval stream);

template <int D>
void clip_repeat(std::vector<Trace<D>>& out, const Trace<D>& trace, Interval stream) {
  const Node<D>& node = *trace.shape().node;
  const int64_t each = node.child.size;
  const int64_t first = stream.begin / each;
  const int64_t last = (stream.end - 1) / each;
  const auto copy = [&](int64_t i) { return Trace<D>(trace.at() + node.stride * i, node.child); };
  if (first == last) {
    clip_into(out, copy(first), {stream.begin - first * each, stream.end - first * each});
    return;
  }
  const int64_t whole_begin = base::ceil_div(stream.begin, each);
  const int64_t whole_end = stream.end / each;
  if (whole_begin > first) clip_into(out, copy(first), {stream.begin - first * each, each});
  if (whole_end - whole_begin >= 2) {
    out.emplace_back(copy(whole_begin).at(),
                     make_repeat_shape(node.child, whole_end - whole_begin, node.stride));
  } else if (whole_end - whole_begin == 1) {
    out.push_back(copy(whole_begin));
  }
  if (whole_end <= last) clip_into(out, copy(last), {0, stream.end - last * each});
}

template <int D>
void clip_sequence(std::vector<Trace<D>>& out, const Trace<D>& trace, Interval stream) {
  const Node<D>& node = *trace.shape().node;
  const size_t first = item_at_offset(node.begin, stream.begin);
  for (size_t i = first; i < node.at.size() && node.begin[i] < stream.end; ++i) {
    const Interval part = common(stream, {node.begin[i], node.begin[i + 1]});
    clip_into(out, Trace<D>(trace.at() + node.at[i], node.item_shape(i)),
              {part.begin - node.begin[i], part.end - node.begin[i]});
  }
}

// Requires 0 <= stream.begin < stream.end <= trace.size().
template <int D>
void clip_into(std::vector<Trace<D>>& out, const Trace<D>& trace, Interval stream) {
  if (stream == Interval{0, trace.size()}) {
    out.push_back(trace);
  } else if (trace.shape().is_run()) {
    out.emplace_back(trace.at().advanced(stream.begin), Shape<D>{stream.length(), nullptr});
  } else if (trace.shape().is_repeat()) {
    clip_repeat(out, trace, stream);
  } else {
    clip_sequence(out, trace, stream);
  }
}

template <int D>
int64_t offset_in(const Shape<D>& shape, int64_t position, int d) {
  if (position <= 0) return 0;
  if (position >= shape.hull(d).end) return shape.size;
  if (shape.is_run()) return position;
  const Node<D>& node = *shape.node;
  if (shape.is_repeat()) {
    const int64_t i = std::min(position / node.stride[d], node.count - 1);
    return i * node.child.size + offset_in(node.child, position - i * node.stride[d], d);
  }
  const size_t i = item_at_position(node.at, position, d);
  return node.begin[i] + offset_in(node.item_shape(i), position - node.at[i][d], d);
}

// The run at a stream offset: where it lies, how long it is, and how far into it the offset is.
template <int D>
struct Descent {
  Point<D> at;
  int64_t length = 0;
  int64_t offset = 0;
};

template <int D>
Descent<D> descend(const Trace<D>& trace, int64_t offset) {
  Point<D> at = trace.at();
  int64_t length = trace.size();
  const Node<D>* node = trace.shape().node.get();
  while (node != nullptr) {
    if (node->count != 0) {
      at += node->stride * (offset / node->child.size);
      offset %= node->child.size;
      length = node->child.size;
      node = node->child.node.get();
    } else {
      const size_t i = item_at_offset(node->begin, offset);
      at += node->at[i];
      offset -= node->begin[i];
      length = node->begin[i + 1] - node->begin[i];
      node = node->item.empty() ? nullptr : node->item[i].get();
    }
  }
  return {at, length, offset};
}

// Copies that continue each other: the run across each border is made whole by beginning every copy
// but the first at its second run.
template <int D>
Trace<D> repeat_touching(const Trace<D>& trace, int64_t count, const Point<D>& stride) {
  if (trace.shape().is_run()) {
    return Trace<D>(trace.at(), {trace.size() * count, nullptr});
  }
  const int64_t first = first_run_length(trace.shape());
  const Trace<D> rest = trace.clip({first, trace.size()});
  Assembler<D> across;
  across.append(rest);
  across.append_run(rest.end(), first);
  Assembler<D> whole;
  whole.append_run(trace.at(), first);
  whole.append(repeat_in_bounds(across.finish_in_bounds(), count - 1, stride));
  whole.append(Trace<D>(rest.at() + stride * (count - 1), rest.shape()));
  return whole.finish_in_bounds();
}

template <int D>
void check_node(const Shape<D>& shape, std::unordered_set<const void*>& seen) {
  if (shape.is_run() || !seen.insert(shape.node.get()).second) return;
  const Node<D>& node = *shape.node;
  TESSERA_ASSERT(node.size == shape.size && node.size > 0 && node.size <= kMaxPosition);
  TESSERA_ASSERT(node.depth <= kMaxDepth && node.weight <= kMaxWeight);
  for (int d = 0; d < D; ++d) {
    TESSERA_ASSERT(in_bounds({node.lo[d], node.hi[d]}) && node.lo[d] <= 0 && node.hi[d] > 0);
    TESSERA_ASSERT(node.lo[d] >= node.hi[d] - kMaxPosition);
  }
  if (shape.is_repeat()) {
    TESSERA_ASSERT(node.count >= 2 && node.child.size > 0 && node.child.end() != node.stride);
    TESSERA_ASSERT(node.size == node.count * node.child.size);
    check_node(node.child, seen);
    return;
  }
  TESSERA_ASSERT(node.at.size() >= 2 && node.begin.size() == node.at.size() + 1);
  TESSERA_ASSERT(node.at[0] == Point<D>{} && node.begin[0] == 0 && node.begin.back() == node.size);
  TESSERA_ASSERT(node.item.empty() || node.item.size() == node.at.size());
  for (size_t i = 0; i < node.at.size(); ++i) {
    const Shape<D> item = node.item_shape(i);
    TESSERA_ASSERT(item.size > 0 && !item.is_sequence());
    TESSERA_ASSERT(i == 0 || node.at[i - 1] + node.item_shape(i - 1).end() != node.at[i]);
    check_node(item, seen);
  }
}

template <int D>
int64_t memory_of(const Shape<D>& shape, std::unordered_set<const void*>& seen) {
  if (shape.is_run() || !seen.insert(shape.node.get()).second) return 0;
  const Node<D>& node = *shape.node;
  auto bytes = static_cast<int64_t>(sizeof(Node<D>) + 16 + node.at.capacity() * sizeof(Point<D>) +
                                    node.begin.capacity() * sizeof(int64_t) +
                                    node.item.capacity() * sizeof(NodePtr<D>));
  if (shape.is_repeat()) return bytes + memory_of(node.child, seen);
  for (size_t i = 0; i < node.item.size(); ++i) bytes += memory_of(node.item_shape(i), seen);
  return bytes;
}

}  // namespace

template <int D>
bool same_shape(const Shape<D>& a, const Shape<D>& b) {
  if (a.size != b.size) return false;
  if (a.node == b.node) return true;
  if (!a.node || !b.node || a.node->hash != b.node->hash) return false;
  const Node<D>& x = *a.node;
  const Node<D>& y = *b.node;
  if (x.count != y.count || x.stride != y.stride || x.at != y.at || x.begin != y.begin) {
    return false;
  }
  if (a.is_repeat()) return same_shape(x.child, y.child);
  if (x.item.size() != y.item.size()) return false;
  for (size_t i = 0; i < x.item.size(); ++i) {
    if (!same_shape(x.item_shape(i), y.item_shape(i))) return false;
  }
  return true;
}

template <int D>
Result<Trace<D>> Trace<D>::run(const Point<D>& at, int64_t length) {
  if (length < 0) {
    return fail(Code::kInvalid, "a run of " + std::to_string(length) + " bytes is negative");
  }
  if (length == 0) return Trace{};
  if (length > kMaxPosition) return out_of_bounds("the length of a run");
  for (int d = 0; d < D; ++d) {
    if (!in_bounds({at[d], at[d]}) || at[d] > kMaxPosition - length) {
      return out_of_bounds("a run");
    }
  }
  return Trace(at, {length, nullptr});
}

template <int D>
int64_t Trace<D>::part_count() const {
  if (empty()) return 0;
  if (shape_.is_run()) return 1;
  return shape_.is_repeat() ? shape_.node->count : shape_.node->item_count();
}

template <int D>
Trace<D> Trace<D>::part(int64_t i) const {
  TESSERA_ASSERT(i >= 0 && i < part_count());
  if (shape_.is_run()) return *this;
  const Node<D>& node = *shape_.node;
  if (shape_.is_repeat()) return Trace(at_ + node.stride * i, node.child);
  const auto index = static_cast<size_t>(i);
  return Trace(at_ + node.at[index], node.item_shape(index));
}

template <int D>
Interval Trace<D>::parts_meeting(Interval window) const {
  TESSERA_ASSERT(ascending());
  if (!span().meets(window)) return {0, 0};
  if (shape_.is_run()) return {0, 1};
  const Node<D>& node = *shape_.node;
  const Interval keys = {window.begin - at_[0], window.end - at_[0]};
  if (shape_.is_repeat()) {
    const int64_t stride = node.stride[0];
    const int64_t before = base::floor_div(keys.begin - node.child.hull(0).end, stride) + 1;
    return {std::max<int64_t>(0, before), std::min(node.count, base::ceil_div(keys.end, stride))};
  }
  const auto starts_before = [](const Point<D>& p, int64_t key) { return p[0] < key; };
  const auto after = std::lower_bound(node.at.begin(), node.at.end(), keys.end, starts_before);
  const size_t first = item_at_position(node.at, std::max<int64_t>(0, keys.begin), 0);
  return {static_cast<int64_t>(first), after - node.at.begin()};
}

template <int D>
Result<Trace<D>> Trace<D>::shifted(const Point<D>& by) const {
  if (empty()) return *this;
  for (int d = 0; d < D; ++d) {
    const Interval now = span(d);
    const auto begin = base::checked_add(now.begin, by[d]);
    const auto end = base::checked_add(now.end, by[d]);
    if (!begin || !end || !in_bounds({*begin, *end})) return out_of_bounds("a shifted pattern");
  }
  return Trace(at_ + by, shape_);
}

template <int D>
Trace<D> Trace<D>::clip(Interval stream) const {
  const Interval cut = common(stream, {0, size()});
  if (cut.empty()) return {};
  if (cut.length() == size()) return *this;
  std::vector<Trace> parts;
  clip_into(parts, *this, cut);
  return make_sequence(std::move(parts));
}

template <int D>
Trace<D> Trace<D>::within(Interval positions, int d) const {
  TESSERA_ASSERT(ascending(d));
  if (empty() || positions.empty()) return {};
  return clip({offset_of(positions.begin, d), offset_of(positions.end, d)});
}

template <int D>
Point<D> Trace<D>::position(int64_t offset) const {
  TESSERA_ASSERT(offset >= 0 && offset < size());
  const Descent<D> run = descend(*this, offset);
  return run.at.advanced(run.offset);
}

template <int D>
Interval Trace<D>::run_at(int64_t offset) const {
  TESSERA_ASSERT(offset >= 0 && offset < size());
  const Descent<D> run = descend(*this, offset);
  return {offset - run.offset, offset - run.offset + run.length};
}

template <int D>
int64_t Trace<D>::offset_of(int64_t position, int d) const {
  TESSERA_ASSERT(ascending(d));
  if (empty() || position <= at_[d]) return 0;
  if (position >= span(d).end) return size();
  return offset_in(shape_, position - at_[d], d);
}

template <int D>
int64_t Trace<D>::memory_bytes() const {
  std::unordered_set<const void*> seen;
  return memory_of(shape_, seen);
}

template <int D>
void Trace<D>::check_invariants() const {
  std::unordered_set<const void*> seen;
  TESSERA_ASSERT(!empty() || shape_.is_run());
  for (int d = 0; d < D; ++d) TESSERA_ASSERT(in_bounds(span(d)));
  check_node(shape_, seen);
}

template <int D>
Trace<D> repeat_in_bounds(const Trace<D>& trace, int64_t count, const Point<D>& stride) {
  if (trace.empty() || count == 0) return {};
  if (count == 1) return trace;
  const Shape<D>& shape = trace.shape();
  if (shape.end() == stride) return repeat_touching(trace, count, stride);
  if (shape.is_repeat() && shape.node->stride * shape.node->count == stride) {
    const Node<D>& node = *shape.node;
    return Trace<D>(trace.at(), make_repeat_shape(node.child, node.count * count, node.stride));
  }
  return Trace<D>(trace.at(), make_repeat_shape(shape, count, stride));
}

template <int D>
Result<Trace<D>> repeat(const Trace<D>& trace, int64_t count, const Point<D>& stride) {
  if (count < 0) {
    return fail(Code::kInvalid, "a repetition of " + std::to_string(count) + " is negative");
  }
  if (count == 0 || trace.empty()) return Trace<D>{};
  if (count == 1) return trace;
  const auto size = base::checked_mul(trace.size(), count);
  if (!size || *size > kMaxPosition) return out_of_bounds("the size of a repetition");
  for (int d = 0; d < D; ++d) {
    const auto last = base::checked_mul(stride[d], count - 1);
    if (!last || !in_bounds({*last, *last})) return out_of_bounds("a repetition");
    const Interval hull = trace.shape().hull(d);
    if (std::abs(*last) > kMaxPosition - hull.length()) return out_of_bounds("a repetition");
    const Interval relative = {hull.begin + std::min<int64_t>(0, *last),
                               hull.end + std::max<int64_t>(0, *last)};
    if (!in_bounds({trace.at()[d] + relative.begin, trace.at()[d] + relative.end})) {
      return out_of_bounds("a repetition");
    }
  }
  if (trace.shape().weight() > kMaxWeight / 4) {
    return fail(Code::kTooComplex, "a repetition of more than " + std::to_string(kMaxWeight / 4) +
                                       " irregular runs is not supported");
  }
  return repeat_in_bounds(trace, count, stride);
}

template class Trace<1>;
template class Trace<2>;
template class Trace<3>;
template bool same_shape(const Shape<1>&, const Shape<1>&);
template bool same_shape(const Shape<2>&, const Shape<2>&);
template bool same_shape(const Shape<3>&, const Shape<3>&);
template Trace<1> repeat_in_bounds(const Trace<1>&, int64_t, const Point<1>&);
template Trace<2> repeat_in_bounds(const Trace<2>&, int64_t, const Point<2>&);
template Trace<3> repeat_in_bounds(const Trace<3>&, int64_t, const Point<3>&);
template Result<Trace<1>> repeat(const Trace<1>&, int64_t, const Point<1>&);
template Result<Trace<2>> repeat(const Trace<2>&, int64_t, const Point<2>&);
template Result<Trace<3>> repeat(const Trace<3>&, int64_t, const Point<3>&);

}  // namespace tessera::pattern
