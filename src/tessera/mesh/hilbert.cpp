#include "tessera/mesh/hilbert.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/assert.hpp"

namespace tessera::mesh {

namespace {

constexpr int kBits = 21;  // three coordinates of them fit 64

using Cell = std::array<uint32_t, 3>;

// Turns the cell into the curve's own axes, level by level from the coarsest: below each level the
// curve is mirrored or its axes are exchanged, depending on the octant.
void turn(Cell& cell, int bits) {
  for (uint32_t level = uint32_t{1} << (bits - 1); level > 1; level >>= 1) {
    const uint32_t below = level - 1;
    for (uint32_t& coordinate : cell) {
      if ((coordinate & level) != 0) {
        cell[0] ^= below;
      } else {
        const uint32_t exchanged = (cell[0] ^ coordinate) & below;
        cell[0] ^= exchanged;
        coordinate ^= exchanged;
      }
    }
  }
}

// From coordinates in the curve's axes to the Gray code of the octants on the way.
void code(Cell& cell, int bits) {
  cell[1] ^= cell[0];
  cell[2] ^= cell[1];
  uint32_t flips = 0;
  for (uint32_t level = uint32_t{1} << (bits - 1); level > 1; level >>= 1) {
    if ((cell[2] & level) != 0) flips ^= level - 1;
  }
  for (uint32_t& coordinate : cell) coordinate ^= flips;
}

}  // namespace

uint64_t hilbert_place(Cell cell, int bits) {
  TESSERA_ASSERT(bits > 0 && bits <= kBits);
  turn(cell, bits);
  code(cell, bits);
  uint64_t place = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    for (const uint32_t coordinate : cell) place = place << 1 | (coordinate >> bit & 1);
  }
  return place;
}

HilbertCurve::HilbertCurve(std::span<const Position> positions) {
  if (positions.empty()) return;
  Position most = least_ = positions.front();
  for (const Position& position : positions) {
    for (size_t axis = 0; axis < 3; ++axis) {
      least_[axis] = std::fmin(least_[axis], position[axis]);
      most[axis] = std::fmax(most[axis], position[axis]);
    }
  }
  double side = 0;
  for (size_t axis = 0; axis < 3; ++axis) side = std::fmax(side, most[axis] - least_[axis]);
  if (side > 0 && std::isfinite(side)) cells_per_unit_ = std::ldexp(1.0, kBits) / side;
}

uint64_t HilbertCurve::place(const Position& position) const {
  const double most = std::ldexp(1.0, kBits) - 1;
  Cell cell{};
  for (size_t axis = 0; axis < 3; ++axis) {
    const double along = (position[axis] - least_[axis]) * cells_per_unit_;
    cell[axis] = along > 0 ? static_cast<uint32_t>(std::min(along, most)) : 0;
  }
  return hilbert_place(cell, kBits);
}

}  // namespace tessera::mesh
