// Unions of many sets, and what pieces hold.
//
// Thread safety: pure functions.
#pragma once

#include <span>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/map/piece.hpp"
#include "tessera/pattern/budget.hpp"
#include "tessera/pattern/byte_set.hpp"

namespace tessera::map {

// The bytes of a piece.
[[nodiscard]] pattern::ByteSet bytes_of(const Piece& piece);

// The bytes of runs in any order, which may overlap. Fails as pattern::Assembler::finish() does.
// Cost: O(n log n).
[[nodiscard]] base::Result<pattern::ByteSet> set_of_runs(std::vector<pattern::Run> runs);

// The union of all sets, united in pairs in the order of their first bytes: the tiles of a file
// fill each other's gaps, so that their unions become simple early. All unions of one round share
// the budget; where it does not suffice, the runs of all sets are sorted, at most budget.max_runs
// of them, else it fails with kTooComplex. Cost: O(parts log n) and the budget times log n.
[[nodiscard]] base::Result<pattern::ByteSet> unite_all(std::vector<pattern::ByteSet> sets,
                                                       pattern::Budget budget);

// As unite_all(), with a budget for many calls.
[[nodiscard]] base::Result<pattern::ByteSet> unite_all_within(std::vector<pattern::ByteSet> sets,
                                                              pattern::Budget& budget);

// The bytes of all pieces, which are disjoint. Requires that single runs among them are sorted.
[[nodiscard]] base::Result<pattern::ByteSet> bytes_of_all(std::span<const Piece> pieces,
                                                          pattern::Budget budget);

}  // namespace tessera::map
