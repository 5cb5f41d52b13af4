// Cursor: walks a trace in stream order, a stripe or a batch of runs at a time.
//
// A stripe is a strided group of equal runs: what an inner loop handles without looking at the
// trace again. Regular traces give few stripes however many runs they have. Thread safety: none;
// the trace it walks may be shared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

// `count` runs of `length` bytes, each `stride` after the one before.
template <int D>
struct Stripe {
  Point<D> at;
  int64_t length = 0;
  int64_t count = 0;
  Point<D> stride;
};

// One run in every coordinate.
template <int D>
struct Piece {
  Point<D> at;
  int64_t length = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

template <int D>
class Cursor {
 public:
  // Stands at a stream offset. Requires 0 <= offset <= trace.size(). Cost: as Trace::position().
  explicit Cursor(Trace<D> trace, int64_t offset = 0);

  // The next stripe, as large as the trace tells without search; false at the end. A run that the
  // cursor was set into comes first, alone. Cost: amortised O(1).
  bool next(Stripe<D>& stripe);

  // Fills `pieces` with the next runs and returns how many there were; less than the room given
  // only at the end. May be mixed with next().
  size_t next_pieces(std::span<Piece<D>> pieces);

 private:
  struct Frame {
    const Node<D>* node;
    Point<D> at;
    int64_t index;  // of the part to visit next
  };

  void descend(const Node<D>* node, int64_t size, Point<D> at, int64_t offset);
  bool advance(Stripe<D>& stripe);

  Trace<D> trace_;  // keeps the nodes alive
  std::vector<Frame> frames_;
  Stripe<D> pending_;  // found but not handed out; none if its count is 0
};

// All runs of a trace, expanded. Requires runs() to fit in memory; callers bound it.
template <int D>
[[nodiscard]] std::vector<Piece<D>> expand(const Trace<D>& trace);

}  // namespace tessera::pattern
