// Two-phase moves: ranks of several nodes, through aggregators that hold windows of the file.
//
// The cells of a schedule are handed to the aggregators in contiguous blocks, and every step lets
// each aggregator handle one cell. In a write every rank sends the aggregators its bytes with the
// pattern of their places; in a read it sends the pattern, and gets the bytes with the next step's
// message. So a step is one exchange.
//   (A1) An aggregator holds one window, and the messages about it, of at most cb_buffer_size.
//   (A2) A schedule is carried through to its end, whatever fails; before the next one all ranks
//        learn whether something did, and stop together.
// Thread safety: as Exchange.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/move/collective_choice.hpp"
#include "tessera/move/collective_summary.hpp"
#include "tessera/move/engine.hpp"
#include "tessera/move/move.hpp"
#include "tessera/port/exchange.hpp"

namespace tessera::move {

// The ranks that aggregate: one for each node, or as many as the policy says, spread over the
// nodes. Never empty. Requires node[r] for every rank r, at least one.
[[nodiscard]] std::vector<int> aggregators_of(std::span<const int> node, const Policy& policy);

// Cells do not get smaller, however often ranks ask for the same bytes.
inline constexpr int64_t kCellBytesMin = 16;
// What an aggregator handles in one step at most: half of its buffer, for the window.
[[nodiscard]] int64_t window_bytes_max(const Policy& policy, int64_t aggregators);
// The size of the cells that the file is cut into, so that every aggregator has one where there
// are few; at most window_bytes_max().
[[nodiscard]] int64_t cell_for(const Picture& picture, int64_t aggregators);

struct TwoPhaseRoute {
  std::span<const int> node;  // of every rank
  WayChoice way;              // kTogether, or kUndecided; then decided (node_choice.hpp)
  int64_t aggregators = 0;    // 0: as many as the policy says
};

// Moves the bytes of all ranks and agrees on the verdict; nothing, on all ranks alike, if the way
// is undecided and the schedule shows that moving separately costs less, as route.way says then.
// Requires that all ranks have the same picture and route.
[[nodiscard]] std::optional<Transfer> move_in_two_phases(const Move& move, Context& context,
                                                         port::Exchange& exchange,
                                                         const Picture& picture,
                                                         TwoPhaseRoute& route);

}  // namespace tessera::move
