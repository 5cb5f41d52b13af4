#include "tessera/move/window_copy.hpp"

#include <algorithm>

#include "tessera/pattern/copy_kernels.hpp"

namespace tessera::move {

namespace {

using pattern::CopyMode;
using pattern::Node;
using pattern::Shape;

// The places of a sequence of runs are handed to the kernels as plain integers.
static_assert(sizeof(pattern::Point<1>) == sizeof(int64_t));

// `place` is where a shape begins in the window, `packed` where its stream begins in memory;
// stretches are of the shape's own stream. Windows are small enough to stay in the caches.
struct Stretch {
  bool reads;

  void run(std::byte* place, std::byte* packed, int64_t length) const {
    runs(place, packed, {length, 1, length});
  }
  void runs(std::byte* place, std::byte* packed, pattern::StridedRuns runs) const {
    if (reads) {
      pattern::gather_runs(packed, place, runs, CopyMode::kCached);
    } else {
      pattern::scatter_runs(place, packed, runs, CopyMode::kCached);
    }
  }
  void list(std::byte* place, std::byte* packed, const pattern::RunList& list) const {
    if (reads) {
      pattern::gather_list(packed, place, list, CopyMode::kCached);
    } else {
      pattern::scatter_list(place, packed, list, CopyMode::kCached);
    }
  }

  void walk(const Shape<1>& shape, std::byte* place, std::byte* packed, Interval stream) const;
  void walk_repeat(const Node<1>& node, std::byte* place, std::byte* packed, Interval stream) const;
  void walk_sequence(const Node<1>& node, std::byte* place, std::byte* packed,
                     Interval stream) const;
};

void Stretch::walk(const Shape<1>& shape, std::byte* place, std::byte* packed,
                   Interval stream) const {
  if (stream.empty()) return;
  if (shape.is_run()) {
    run(place + stream.begin, packed + stream.begin, stream.length());
  } else if (shape.is_repeat()) {
    walk_repeat(*shape.node, place, packed, stream);
  } else {
    walk_sequence(*shape.node, place, packed, stream);
  }
}

// The first and the last copy may be cut; whole runs between them go to one kernel.
void Stretch::walk_repeat(const Node<1>& node, std::byte* place, std::byte* packed,
                          Interval stream) const {
  const int64_t each = node.child.size;
  const int64_t stride = node.stride[0];
  for (int64_t i = stream.begin / each; i * each < stream.end;) {
    const Interval part = common(stream, {i * each, (i + 1) * each});
    const int64_t whole = (stream.end - i * each) / each;
    if (node.child.is_run() && part.length() == each && whole > 1) {
      runs(place + i * stride, packed + i * each, {each, whole, stride});
      i += whole;
    } else {
      walk(node.child, place + i * stride, packed + i * each,
           {part.begin - i * each, part.end - i * each});
      ++i;
    }
  }
}

void Stretch::walk_sequence(const Node<1>& node, std::byte* place, std::byte* packed,
                            Interval stream) const {
  const auto after = std::upper_bound(node.begin.begin(), node.begin.end(), stream.begin);
  auto i = static_cast<size_t>(after - node.begin.begin()) - 1;
  while (i < node.at.size() && node.begin[i] < stream.end) {
    const Interval part = common(stream, {node.begin[i], node.begin[i + 1]});
    const bool is_whole = part == Interval{node.begin[i], node.begin[i + 1]};
    if (node.item.empty() && is_whole) {
      const auto past = std::upper_bound(node.begin.begin() + static_cast<ptrdiff_t>(i) + 1,
                                         node.begin.end(), stream.end);
      const auto end = static_cast<size_t>(past - node.begin.begin()) - 1;
      const auto* at = reinterpret_cast<const int64_t*>(node.at.data());
      list(place, packed + node.begin[i],
           {at + i, node.begin.data() + i, static_cast<int64_t>(end - i)});
      i = end;
    } else {
      walk(node.item_shape(i), place + node.at[i][0], packed + node.begin[i],
           {part.begin - node.begin[i], part.end - node.begin[i]});
      ++i;
    }
  }
}

}  // namespace

void copy_stretch(const Move& move, Interval stream, std::byte* window, int64_t begin) {
  if (stream.empty()) return;
  if (move.memory_is_run()) {
    std::byte* packed = move.base + move.memory.at()[0];
    std::byte* place = window + (move.file.at()[0] - begin);
    Stretch{move.direction == Direction::kRead}.walk(move.file.shape(), place, packed, stream);
  } else if (move.direction == Direction::kRead) {
    copy_from_buffer(move.clip(stream), window, begin);
  } else {
    copy_to_buffer(move.clip(stream), window, begin);
  }
}

}  // namespace tessera::move
