// Pieces: the stretches of a sharing, divided where the writer changes inside them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::owner {

// Items of one stretch with one writer.
struct Piece {
  int64_t count = 0;
  HoldersId holders = 0;
  Process writer = 0;
  bool behind_gap = false;
};

// In order. Requires that writers has the items of the sharing. Cost: O(stretches + intervals).
[[nodiscard]] std::vector<Piece> pieces_of(const Sharing& sharing, const Writers& writers);

// How often the writer changes, gaps left out.
[[nodiscard]] int64_t changes_of(std::span<const Piece> pieces);

}  // namespace tessera::owner
