// Schedules: which pieces of the file a collective move handles, one after the other.
//
// The file is divided into cells of equal size, counted from its beginning. A rank lists the cells
// in which it has bytes, a bounded number at a time, and the lists of all ranks together give the
// rounds: the cells in which anybody has bytes, in ascending order, each cut to the bytes that are
// asked for. Cells without bytes cost nothing, so a sparse pattern may span any distance.
//   (S1) Every byte of every rank lies in one round; rounds do not overlap and ascend.
//   (S2) Ranks that hold the same lists compute the same rounds.
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/move/move.hpp"

namespace tessera::move {

// How many cells a rank lists at a time: the longest schedule before ranks meet for another one.
inline constexpr int64_t kListedCells = 64;

// The bytes of one rank in one cell. Plain numbers, as they lie in common memory and in messages.
struct CellPart {
  int64_t begin = 0;   // of the first byte
  int64_t end = 0;     // of the last byte
  int64_t stream = 0;  // offset of the first byte in the rank's stream
  int64_t bytes = 0;
};

// A rank's list.
struct CellList {
  std::vector<CellPart> parts;
  bool complete = true;  // nothing of the rank lies behind the last part
};

// The cells of an ascending pattern from stream offset `stream` on, at most kListedCells of them.
// Requires cell > 0 and positions >= 0. Cost: O(cells listed x depth).
[[nodiscard]] CellList list_cells(const Pattern& file, int64_t cell, int64_t stream);

// One piece of the file, and how much of it is asked for.
struct Round {
  Interval file;
  int64_t bytes = 0;         // of all ranks, counted as often as they occur
  bool one_has_all = false;  // a single rank has every byte of it
};

struct Schedule {
  std::vector<Round> rounds;  // at most kListedCells
  bool complete = true;       // nothing lies behind the last round
};

// The rounds that the lists of all ranks tell. Cost: O(parts x log ranks).
[[nodiscard]] Schedule merge_lists(std::span<const CellList> lists, int64_t cell);

}  // namespace tessera::move
