// Coverage maps: which bytes of a window have been provided, one bit for each.
//
// The exact answer where patterns do not tell it by arithmetic: irregular ones, and ranks that
// write the same bytes. Ranks mark their runs while they copy; whoever writes the window out then
// finds the runs that are there. Marking is done by whole bytes of the map where runs allow it.
// Thread safety: ranks may mark at the same time, in common memory too; everything else only while
// nobody marks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

  // Marks the bytes at stream offsets `stream` of a pattern, counted from position `begin` of the
  // file. Requires that they lie in the map. Cost: O(runs + bytes / 64).
  void mark(const Pattern& pattern, Interval stream, int64_t begin);

  // The first run of marked bytes in `within`, and so for bytes that are not marked; {end, end} if
  // there is none. Cost: O(bytes passed / 64).
  [[nodiscard]] Interval next_marked(Interval within) const { return next(true, within); }
  [[nodiscard]] Interval next_unmarked(Interval within) const { return next(false, within); }

 private:
  void mark_stripe(int64_t begin, int64_t length, int64_t count, int64_t stride);
  void mark_run(int64_t begin, int64_t length);
  void set_bits(int64_t byte_index, unsigned bits);
  [[nodiscard]] Interval next(bool value, Interval within) const {
    const int64_t begin = find(value, within.begin, within.end);
    return {begin, find(!value, begin, within.end)};
  }
  // Bit i of the map is bit i % 64 of word i / 64.
  [[nodiscard]] uint64_t word(int64_t index) const {
    uint64_t bits = 0;
    std::memcpy(&bits, memory_.data() + index * 8, sizeof(bits));
    return std::endian::native == std::endian::little ? bits : __builtin_bswap64(bits);
  }
  // The first bit of the given value at or after `from`; `end` if there is none.
  [[nodiscard]] int64_t find(bool value, int64_t from, int64_t end) const {
    const uint64_t flip = value ? 0 : ~uint64_t{0};
    while (from < end) {
      const uint64_t bits = (word(from / 64) ^ flip) >> from % 64;
      if (bits != 0) return std::min<int64_t>(end, from + std::countr_zero(bits));
      from = (from / 64 + 1) * 64;
    }
    return end;
  }

  std::span<std::byte> memory_;
};

}  // namespace tessera::move
