// Segments: a move as transfers that are consecutive in the file and in memory at once.
//
// What list I/O asks the system for. Both patterns are walked together, so nothing is expanded
// beyond the batch at hand. Thread safety: none; the patterns may be shared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::move {

struct Segment {
  int64_t file = 0;    // position
  int64_t memory = 0;  // offset from the move's base
  int64_t length = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

class SegmentWalk {
 public:
  // Requires patterns of the same size.
  SegmentWalk(const pattern::Pattern& file, const pattern::Pattern& memory);

  // Fills `segments` with the next ones, in stream order and at most `bytes_max` in all (the last
  // one is cut, and goes on with the next call). Returns how many; 0 at the end. Requires room and
  // bytes_max > 0. Cost: O(segments).
  [[nodiscard]] size_t next(std::span<Segment> segments, int64_t bytes_max);

 private:
  // One pattern's runs, a small batch at a time.
  class Side {
   public:
    explicit Side(const pattern::Pattern& pattern) : cursor_(pattern) {}

    // The bytes left of the run it stands in; 0 at the end.
    [[nodiscard]] int64_t left();
    // Where it stands. Requires left() > 0.
    [[nodiscard]] int64_t position() const { return batch_[index_].at[0] + within_; }
    // Requires bytes <= left().
    void advance(int64_t bytes);

   private:
    static constexpr size_t kBatch = 128;

    pattern::Cursor<1> cursor_;
    std::array<pattern::Piece<1>, kBatch> batch_;
    size_t index_ = 0;
    size_t count_ = 0;
    int64_t within_ = 0;
  };

  Side file_;
  Side memory_;
};

}  // namespace tessera::move
