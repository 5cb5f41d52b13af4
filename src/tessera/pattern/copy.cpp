#include "tessera/pattern/copy.hpp"

#include "tessera/pattern/copy_kernels.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::pattern {

namespace {

// The places of a sequence of runs are handed to the kernels as plain integers.
static_assert(sizeof(Point<1>) == sizeof(int64_t));

RunList run_list(const Node<1>& node) {
  return {reinterpret_cast<const int64_t*>(node.at.data()), node.begin.data(), node.item_count()};
}

// Walks a pattern down to the parts that a kernel takes whole. Mover has runs(place, stream, runs)
// and list(place, stream, list): `place` is an offset from the base, `stream` one in the stream.
template <typename Mover>
void walk(const Shape<1>& shape, int64_t place, int64_t stream, const Mover& move) {
  if (shape.is_run()) {
    move.runs(place, stream, {shape.size, 1, shape.size});
    return;
  }
  const Node<1>& node = *shape.node;
  if (shape.is_sequence() && node.item.empty()) {
    move.list(place, stream, run_list(node));
  } else if (shape.is_sequence()) {
    for (size_t i = 0; i < node.at.size(); ++i) {
      walk(node.item_shape(i), place + node.at[i][0], stream + node.begin[i], move);
    }
  } else if (node.child.is_run()) {
    move.runs(place, stream, {node.child.size, node.count, node.stride[0]});
  } else {
    for (int64_t i = 0; i < node.count; ++i) {
      walk(node.child, place + i * node.stride[0], stream + i * node.child.size, move);
    }
  }
}

struct Gather {
  std::byte* out;
  const std::byte* base;
  CopyMode mode;

  void runs(int64_t place, int64_t stream, StridedRuns runs) const {
    gather_runs(out + stream, base + place, runs, mode);
  }
  void list(int64_t place, int64_t stream, const RunList& list) const {
    gather_list(out + stream, base + place, list, mode);
  }
};

struct Scatter {
  std::byte* base;
  const std::byte* in;
  CopyMode mode;

  void runs(int64_t place, int64_t stream, StridedRuns runs) const {
    scatter_runs(base + place, in + stream, runs, mode);
  }
  void list(int64_t place, int64_t stream, const RunList& list) const {
    scatter_list(base + place, in + stream, list, mode);
  }
};

}  // namespace

void gather(std::byte* out, const std::byte* base, const Pattern& pattern) {
  gather(out, base, pattern, mode_for(pattern.size()));
}

void gather(std::byte* out, const std::byte* base, const Pattern& pattern, CopyMode mode) {
  if (pattern.empty()) return;
  walk(pattern.shape(), pattern.at()[0], 0, Gather{out, base, mode});
  finish_copy(mode);
}

void scatter(std::byte* base, const std::byte* in, const Pattern& pattern) {
  scatter(base, in, pattern, mode_for(pattern.size()));
}

void scatter(std::byte* base, const std::byte* in, const Pattern& pattern, CopyMode mode) {
  if (pattern.empty()) return;
  walk(pattern.shape(), pattern.at()[0], 0, Scatter{base, in, mode});
  finish_copy(mode);
}

void copy_pairs(std::byte* to_base, const std::byte* from_base, const Join& pairs) {
  const CopyMode mode = mode_for(pairs.size());
  Cursor<2> cursor(pairs);
  Stripe<2> stripe;
  while (cursor.next(stripe)) {
    copy_runs(to_base + stripe.at[1], from_base + stripe.at[0],
              {stripe.length, stripe.count, stripe.stride[1], stripe.stride[0]}, mode);
  }
  finish_copy(mode);
}

}  // namespace tessera::pattern
