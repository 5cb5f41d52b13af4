// Traces: ordered, compressed streams of bytes that have positions.
//
// A Trace<D> is a sequence of bytes in stream order, each with D positions. Trace<1> is a Pattern:
// the bytes of a file or of a memory buffer in the order in which they are streamed. Trace<2> is a
// Join: each byte has a position in two patterns at once. Order matters and a byte may occur twice;
// where order does not matter the type is ByteSet (byte_set.hpp).
//
// A trace is a run (consecutive in every coordinate), a repetition of a shape at a constant stride,
// or a sequence of shapes. Nodes are immutable and shared, so a trace is copied, shifted and
// clipped without touching what it is made of.
//   (T1) Maximal runs: no run continues the run before it in the stream. So runs() is exact.
//   (T2) The first byte of a shape is at the origin; where it lies is told by its parent. So equal
//        shapes are equal whatever their place.
//   (T3) A repetition has a count of at least 2 and a shape that is not empty; a sequence has at
//        least two items, none of which is a sequence.
//   (T4) Every position p has |p| <= kMaxPosition; sizes are at most kMaxPosition, and so is the
//        length of the hull in each coordinate. So positions seen from any byte of the trace keep
//        the bound too, wherever it is cut.
//   (T5) A node stands for at most kMaxWeight items, shared ones counted as often as they occur.
// By (T3) every repetition doubles the size and every sequence lies between two repetitions, so by
// (T4) no trace is deeper than kMaxDepth: nesting to any depth is stored in a bounded one.
//
// Costs: "depth" is at most kMaxDepth and usually 1 to 4; "items" is the length of the longest
// sequence. Thread safety: traces are values; const use from many threads is safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::pattern {

inline constexpr int kMaxDepth = 126;
inline constexpr int64_t kMaxWeight = int64_t{1} << 26;

template <int D>
struct Node;
template <int D>
using NodePtr = std::shared_ptr<const Node<D>>;

// What a trace looks like, wherever it lies: a run of `size` bytes when there is no node.
template <int D>
struct Shape {
  int64_t size = 0;
  NodePtr<D> node;

  [[nodiscard]] bool is_run() const { return node == nullptr; }
  [[nodiscard]] bool is_repeat() const { return node != nullptr && node->count != 0; }
  [[nodiscard]] bool is_sequence() const { return node != nullptr && node->count == 0; }
  [[nodiscard]] int64_t runs() const { return node ? node->runs : (size > 0 ? 1 : 0); }
  [[nodiscard]] int depth() const { return node ? node->depth : 0; }
  // Items and repeats that a walk over the shape visits; 1 for a run.
  [[nodiscard]] int64_t weight() const { return node ? node->weight : 1; }
  // Whether coordinate d only grows along the stream, no byte occurring twice.
  [[nodiscard]] bool ascending(int d) const { return !node || ((node->ascending >> d) & 1U) != 0; }
  // All positions of coordinate d lie in it, relative to the first byte.
  [[nodiscard]] Interval hull(int d) const {
    return node ? Interval{node->lo[d], node->hi[d]} : Interval{0, size};
  }
  // Just past the last byte of the stream, relative to the first.
  [[nodiscard]] Point<D> end() const { return node ? node->end : Point<D>{}.advanced(size); }
  [[nodiscard]] uint64_t hash() const;
};

// Whether two shapes are built alike. Cost: O(weight), O(1) when they share their nodes or differ.
template <int D>
[[nodiscard]] bool same_shape(const Shape<D>& a, const Shape<D>& b);

template <int D>
class Trace {
 public:
  // The empty trace.
  Trace() = default;
  Trace(const Point<D>& at, Shape<D> shape) : at_(at), shape_(std::move(shape)) {}

  // `length` consecutive bytes. Fails with kInvalid if a position leaves the bounds of (T4) or the
  // length is negative.
  static base::Result<Trace> run(const Point<D>& at, int64_t length);

  [[nodiscard]] bool empty() const { return shape_.size == 0; }
  [[nodiscard]] int64_t size() const { return shape_.size; }  // bytes in the stream
  [[nodiscard]] int64_t runs() const { return shape_.runs(); }
  [[nodiscard]] const Point<D>& at() const { return at_; }  // position of the first byte
  [[nodiscard]] Point<D> end() const { return at_ + shape_.end(); }
  [[nodiscard]] const Shape<D>& shape() const { return shape_; }
  [[nodiscard]] bool ascending(int d = 0) const { return shape_.ascending(d); }
  // The smallest interval that holds every position of coordinate d; {0, 0} for the empty trace.
  [[nodiscard]] Interval span(int d = 0) const {
    if (empty()) return {0, 0};
    const Interval hull = shape_.hull(d);
    return {at_[d] + hull.begin, at_[d] + hull.end};
  }

  // The direct parts: the repetitions of a repeat, the items of a sequence, itself of a run.
  [[nodiscard]] int64_t part_count() const;
  [[nodiscard]] Trace part(int64_t i) const;  // requires 0 <= i < part_count()

  // The indices [begin, end) of the parts that can have positions of coordinate 0 in a window.
  // Requires ascending(0). Cost: O(log items).
  [[nodiscard]] Interval parts_meeting(Interval window) const;

  // All positions moved by `by`. Fails with kInvalid if one leaves the bounds of (T4).
  [[nodiscard]] base::Result<Trace> shifted(const Point<D>& by) const;

  // The bytes at stream offsets `stream`, which is cut to [0, size()).
  // Cost: O(depth + log items + items copied).
  [[nodiscard]] Trace clip(Interval stream) const;

  // The bytes whose coordinate d lies in `positions`. Requires ascending(d).
  // Cost: O(depth + log items + items copied).
  [[nodiscard]] Trace within(Interval positions, int d = 0) const;

  // Position of the byte at a stream offset. Requires 0 <= offset < size().
  // Cost: O(depth), and a binary search in each sequence on the way.
  [[nodiscard]] Point<D> position(int64_t offset) const;

  // The stream offsets of the run that holds a byte. Requires 0 <= offset < size(). Cost: as
  // position().
  [[nodiscard]] Interval run_at(int64_t offset) const;

  // The stream offset of the first byte whose coordinate d is at or after `position`; size() if
  // there is none. Requires ascending(d). Cost: as position().
  [[nodiscard]] int64_t offset_of(int64_t position, int d = 0) const;

  // Memory held by the nodes of this trace, each counted once. Cost: O(nodes).
  [[nodiscard]] int64_t memory_bytes() const;

  // Asserts (T1) to (T4) for every node. Cost: O(nodes). For tests.
  void check_invariants() const;

 private:
  Point<D> at_;
  Shape<D> shape_;
};

using Pattern = Trace<1>;

// `count` copies of a trace, each `stride` after the one before. Fails with kInvalid if the count
// is negative or the result leaves the bounds of (T4), with kTooComplex beyond those of (T5). Cost:
// O(depth); where copies touch, runs are joined across them, at the cost of one copy of the items.
template <int D>
[[nodiscard]] base::Result<Trace<D>> repeat(const Trace<D>& trace, int64_t count,
                                            const Point<D>& stride);

// As repeat(), for a result that is known to stay in bounds.
template <int D>
[[nodiscard]] Trace<D> repeat_in_bounds(const Trace<D>& trace, int64_t count,
                                        const Point<D>& stride);

// A repeat (count >= 2) or a sequence (count == 0) of shapes. Built by repeat() and Assembler only.
template <int D>
struct Node {
  int64_t size = 0;
  int64_t runs = 0;
  Point<D> lo;  // hull of all positions, relative to the first byte
  Point<D> hi;
  Point<D> end;  // just past the last byte
  uint64_t hash = 0;
  int64_t weight = 0;  // see Shape::weight
  uint8_t depth = 0;
  uint8_t ascending = 0;  // bit d: see Shape::ascending

  int64_t count = 0;  // repeat: how often
  Shape<D> child;
  Point<D> stride;

  std::vector<Point<D>> at;      // sequence: first byte of each item
  std::vector<int64_t> begin;    // stream offset of each item, and at last the size
  std::vector<NodePtr<D>> item;  // their nodes; empty if all items are runs

  [[nodiscard]] int64_t item_count() const { return static_cast<int64_t>(at.size()); }
  [[nodiscard]] Shape<D> item_shape(size_t i) const {
    return {begin[i + 1] - begin[i], item.empty() ? nullptr : item[i]};
  }
};

// A run and a stripe: what a trace is expanded to at the last step.
struct Run {
  int64_t begin = 0;
  int64_t length = 0;
  friend bool operator==(Run, Run) = default;
};

}  // namespace tessera::pattern
