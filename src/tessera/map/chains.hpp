// Chains: pieces of one allocation that lie one behind another in the file.
//
// Regular pieces interleave, and what interleaves is not one ascending list of pairs. Pieces are
// therefore put into as few chains as a single pass can tell, each of which is one. Thread safety:
// pure functions.
#pragma once

#include <span>
#include <vector>

#include "tessera/map/piece.hpp"

namespace tessera::map {

struct Chain {
  AllocationId allocation = 0;
  std::vector<size_t> pieces;  // indices, by first byte; each begins where the last ended, or later
};

// Requires pieces that are disjoint and sorted by first byte. The chains are in the order of their
// first bytes. Cost: O(n log n).
[[nodiscard]] std::vector<Chain> chains_of(std::span<const Piece> pieces);

}  // namespace tessera::map
