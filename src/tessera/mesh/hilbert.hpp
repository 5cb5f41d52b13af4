// The Hilbert curve through a box: points that are near on it are near in space.
//
// Thread safety: const use from many threads is safe.
#pragma once

#include <cstdint>
#include <span>

#include "tessera/mesh/mesh.hpp"

namespace tessera::mesh {

class HilbertCurve {
 public:
  // A cube of 2^21 cells a side around all positions. Cost: O(positions).
  explicit HilbertCurve(std::span<const Position> positions);

  // Where the cell of a position is on the curve; positions outside count as the nearest inside,
  // and coordinates that are no numbers as the least.
  [[nodiscard]] uint64_t place(const Position& position) const;

 private:
  Position least_ = {};
  double cells_per_unit_ = 0;
};

// The place on a curve of 2^bits cells a side of a cell. Requires 0 < bits <= 21 and coordinates
// below 2^bits. Cells that follow each other on the curve have a face in common.
[[nodiscard]] uint64_t hilbert_place(std::array<uint32_t, 3> cell, int bits);

}  // namespace tessera::mesh
