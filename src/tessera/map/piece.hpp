// Pieces: what a file map is made of.
//
// A piece is a group of bytes of one allocation and one epoch: pairs of (byte of the file, place in
// the allocation) that ascend in the file. Thread safety: values.
#pragma once

#include <cstdint>

#include "tessera/pattern/join.hpp"

namespace tessera::map {

// Opaque to map/: whoever owns the allocations numbers them.
using AllocationId = int64_t;

struct Piece {
  AllocationId allocation = 0;
  uint64_t epoch = 0;
  pattern::Join pairs;  // coordinate 0 is the byte of the file, coordinate 1 its place
};

// Where pieces come from: somebody who may mean harm, or a process that has checked them all.
enum class Origin { kStranger, kChecked };

// The order by first bytes.
[[nodiscard]] inline bool begins_before(const Piece& a, const Piece& b) {
  return a.pairs.at()[0] < b.pairs.at()[0];
}

}  // namespace tessera::map
