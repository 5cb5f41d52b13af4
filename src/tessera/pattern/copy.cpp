#include "tessera/pattern/copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/copy_kernels.hpp"
#include "tessera/pattern/copy_kernels_table.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::pattern {

namespace {

// The places of a sequence of runs are handed to the kernels as plain integers.
static_assert(sizeof(Point<1>) == sizeof(int64_t));

RunList run_list(const Node<1>& node) {
  return {reinterpret_cast<const int64_t*>(node.at.data()), node.begin.data(), node.item_count()};
}

// Whether it is a repeat of runs: what the repetitions of rows are.
bool is_row(const Shape<1>& shape) { return shape.is_repeat() && shape.node->child.is_run(); }

Rows rows_of(const Shape<1>& row, int64_t count, int64_t stride) {
  return {{row.node->child.size, row.node->count, row.node->stride[0]}, count, stride};
}

// Walks a pattern down to the parts that a kernel takes whole. Mover has runs(place, stream, runs),
// rows(place, stream, rows) and list(place, stream, list): `place` is an offset from the base,
// `stream` one in the stream.
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
  } else if (is_row(node.child)) {
    move.rows(place, stream, rows_of(node.child, node.count, node.stride[0]));
  } else {
    for (int64_t i = 0; i < node.count; ++i) {
      walk(node.child, place + i * node.stride[0], stream + i * node.child.size, move);
    }
  }
}

// Where a shape stands.
struct Stand {
  int64_t place;
  int64_t stream;
};

template <typename Mover>
void walk_part(const Shape<1>& shape, Stand at, Interval part, const Mover& move);

// The runs of a list that lie in the part whole go to a kernel, those at its ends are cut.
template <typename Mover>
void walk_list(const Node<1>& node, Stand at, Interval part, const Mover& move) {
  const RunList all = run_list(node);
  const int64_t* const ends = all.prefix + 1;
  const auto place_of = [&](int64_t offset) {
    return std::upper_bound(ends, ends + all.count, offset - at.stream) - ends;
  };
  const auto item = [&](int64_t i, Interval cut) {
    const Shape<1> run = {all.prefix[i + 1] - all.prefix[i], nullptr};
    walk_part(run, {at.place + all.at[i], at.stream + all.prefix[i]}, cut, move);
  };
  int64_t first = place_of(part.begin);
  const int64_t last = place_of(part.end - 1);
  if (part.begin > at.stream + all.prefix[first]) item(first++, part);
  const bool cut_last = first <= last && part.end < at.stream + all.prefix[last + 1];
  const int64_t end = cut_last ? last : last + 1;
  if (first < end) {
    move.list(at.place, at.stream + all.prefix[first],
              {all.at + first, all.prefix + first, end - first});
  }
  if (cut_last) item(last, part);
}

template <typename Mover>
void walk_copies(const Node<1>& node, Stand at, Interval part, const Mover& move) {
  const int64_t each = node.child.size;
  const auto copy = [&](int64_t i) {
    return Stand{at.place + i * node.stride[0], at.stream + i * each};
  };
  int64_t first = (part.begin - at.stream) / each;
  const int64_t last = (part.end - 1 - at.stream) / each;
  if (part.begin > copy(first).stream) {
    walk_part(node.child, copy(first), part, move);
    ++first;
  }
  const bool cut_last = first <= last && part.end < copy(last).stream + each;
  const int64_t end = cut_last ? last : last + 1;
  if (node.child.is_run() && first < end) {
    move.runs(copy(first).place, copy(first).stream, {each, end - first, node.stride[0]});
  } else if (is_row(node.child) && first < end) {
    move.rows(copy(first).place, copy(first).stream,
              rows_of(node.child, end - first, node.stride[0]));
  } else {
    for (int64_t i = first; i < end; ++i) walk(node.child, copy(i).place, copy(i).stream, move);
  }
  if (cut_last) walk_part(node.child, copy(last), part, move);
}

// The same for the bytes of a part of the stream, which the shape may reach beyond on both sides.
template <typename Mover>
void walk_part(const Shape<1>& shape, Stand at, Interval part, const Mover& move) {
  const Interval mine = common(part, {at.stream, at.stream + shape.size});
  if (mine.empty()) return;
  if (mine.length() == shape.size) {
    walk(shape, at.place, at.stream, move);
  } else if (shape.is_run()) {
    move.runs(at.place + mine.begin - at.stream, mine.begin, {mine.length(), 1, mine.length()});
  } else if (shape.is_sequence() && shape.node->item.empty()) {
    walk_list(*shape.node, at, mine, move);
  } else if (shape.is_sequence()) {
    const Node<1>& node = *shape.node;
    const auto found =
        std::upper_bound(node.begin.begin(), node.begin.end(), mine.begin - at.stream);
    for (auto i = static_cast<size_t>(found - node.begin.begin()) - 1; i < node.at.size(); ++i) {
      const Stand item = {at.place + node.at[i][0], at.stream + node.begin[i]};
      if (item.stream >= mine.end) break;
      walk_part(node.item_shape(i), item, mine, move);
    }
  } else {
    walk_copies(*shape.node, at, mine, move);
  }
}

struct Gather {
  std::byte* out;  // of the stream's byte `begin`
  int64_t begin;
  const std::byte* base;
  CopyMode mode;

  void runs(int64_t place, int64_t stream, StridedRuns runs) const {
    gather_runs(out + (stream - begin), base + place, runs, mode);
  }
  void rows(int64_t place, int64_t stream, const Rows& rows) const {
    gather_rows(out + (stream - begin), base + place, rows, mode);
  }
  void list(int64_t place, int64_t stream, const RunList& list) const {
    gather_list(out + (stream - begin), base + place, list, mode);
  }
};

struct Scatter {
  std::byte* base;
  const std::byte* in;  // of the stream's byte `begin`
  int64_t begin;
  CopyMode mode;

  void runs(int64_t place, int64_t stream, StridedRuns runs) const {
    scatter_runs(base + place, in + (stream - begin), runs, mode);
  }
  void rows(int64_t place, int64_t stream, const Rows& rows) const {
    scatter_rows(base + place, in + (stream - begin), rows, mode);
  }
  void list(int64_t place, int64_t stream, const RunList& list) const {
    scatter_list(base + place, in + (stream - begin), list, mode);
  }
};

// Repetitions that lie between the bytes of each other, each reaching further than a cache: the
// variables of a mesh whose cells hold all of them, written one after another. In the order of the
// stream each line of memory would be fetched for every repetition that has bytes in it.
struct Interleaved {
  int64_t bytes = 0;        // of each repetition
  int64_t together = 0;     // repetitions that share lines
  int64_t block_bytes = 0;  // of a repetition; the lines of a block stay in the cache
};

constexpr int64_t kCachedLines = (int64_t{128} << 10) / kLineBytes;

std::optional<Interleaved> interleaved(const Shape<1>& shape) {
  if (!shape.is_repeat() || !shape.node->child.is_repeat()) return std::nullopt;
  const Node<1>& node = *shape.node;
  const int64_t stride = std::abs(node.stride[0]);
  const bool shares_lines =
      stride > 0 && stride < kLineBytes && node.child.hull(0).length() > stride;
  if (!shares_lines || node.child.runs() <= kCachedLines) return std::nullopt;
  const Shape<1>* block = &node.child;
  while (block->is_repeat() && block->runs() > kCachedLines) block = &block->node->child;
  return Interleaved{node.child.size, kLineBytes / stride, block->size};
}

// Whole repetitions a block of each after the other, and what is left in the order of the stream.
void gather_interleaved(const Pattern& pattern, const Interleaved& of, Interval part,
                        const Gather& move) {
  const Stand at = {pattern.at()[0], 0};
  const Interval repetitions = {base::ceil_div(part.begin, of.bytes), part.end / of.bytes};
  if (repetitions.length() < 2) return walk_part(pattern.shape(), at, part, move);
  walk_part(pattern.shape(), at, {part.begin, repetitions.begin * of.bytes}, move);
  for (int64_t block = 0; block < of.bytes; block += of.block_bytes) {
    for (int64_t i = repetitions.begin; i < repetitions.end; ++i) {
      const int64_t begin = i * of.bytes + block;
      walk_part(pattern.shape(), at, {begin, begin + of.block_bytes}, move);
    }
  }
  walk_part(pattern.shape(), at, {repetitions.end * of.bytes, part.end}, move);
}

}  // namespace

int64_t gather_bytes(const Pattern& pattern, int64_t usual, int64_t most) {
  const auto found = interleaved(pattern.shape());
  return found ? std::clamp(found->together * found->bytes, usual, most) : usual;
}

void gather(std::byte* out, const std::byte* base, const Pattern& pattern) {
  gather(out, base, pattern, mode_for(pattern.size()));
}

void gather(std::byte* out, const std::byte* base, const Pattern& pattern, CopyMode mode) {
  gather(out, base, pattern, {0, pattern.size()}, mode);
}

void gather(std::byte* out, const std::byte* base, const Pattern& pattern, Interval part,
            CopyMode mode) {
  if (part.empty()) return;
  TESSERA_ASSERT(0 <= part.begin && part.end <= pattern.size());
  const Gather move = {out, part.begin, base, mode};
  if (const auto found = interleaved(pattern.shape())) {
    gather_interleaved(pattern, *found, part, move);
  } else {
    walk_part(pattern.shape(), {pattern.at()[0], 0}, part, move);
  }
  finish_copy(mode);
}

void scatter(std::byte* base, const std::byte* in, const Pattern& pattern) {
  scatter(base, in, pattern, mode_for(pattern.size()));
}

void scatter(std::byte* base, const std::byte* in, const Pattern& pattern, CopyMode mode) {
  scatter(base, in, pattern, {0, pattern.size()}, mode);
}

void scatter(std::byte* base, const std::byte* in, const Pattern& pattern, Interval part,
             CopyMode mode) {
  if (part.empty()) return;
  TESSERA_ASSERT(0 <= part.begin && part.end <= pattern.size());
  walk_part(pattern.shape(), {pattern.at()[0], 0}, part, Scatter{base, in, part.begin, mode});
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
