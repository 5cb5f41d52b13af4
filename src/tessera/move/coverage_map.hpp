// Coverage maps: which bytes of a window have been provided, one bit for each.
//
// The exact answer where patterns do not tell it by arithmetic: irregular ones, and ranks that
// write the same bytes. Ranks mark their runs while they copy; whoever writes the window out then
// finds the runs that are there. Marking is done by whole bytes of the map where runs allow it.
// Thread safety: ranks may mark at the same time, in common memory too; everything else only while
// nobody marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/move/move.hpp"

namespace tessera::move {

class CoverageMap {
 public:
  // The memory that a map of so many bytes needs; a multiple of 8.
  [[nodiscard]] static constexpr int64_t memory_bytes(int64_t window_bytes) {
    return (window_bytes + 63) / 64 * 8;
  }

  // A map in the memory given, which must outlive it, be aligned to 8 bytes and be zero at first.
  explicit CoverageMap(std::span<std::byte> memory) : memory_(memory) {}

  void clear();

  // Marks the bytes of a pattern, counted from position `begin` of the file. Requires that they lie
  // in the map. Cost: O(runs + bytes / 64).
  void mark(const Pattern& pattern, int64_t begin);

  // The first run of marked bytes in `within`, and so for bytes that are not marked; {end, end} if
  // there is none. Cost: O(bytes passed / 64).
  [[nodiscard]] Interval next_marked(Interval within) const;
  [[nodiscard]] Interval next_unmarked(Interval within) const;

 private:
  void mark_run(int64_t begin, int64_t length);
  void set_bits(int64_t byte_index, unsigned bits);
  // The first bit of the given value at or after `from`; `end` if there is none.
  [[nodiscard]] int64_t find(bool value, int64_t from, int64_t end) const;

  std::span<std::byte> memory_;
};

}  // namespace tessera::move
