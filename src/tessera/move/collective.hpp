// Collective moves: all ranks execute theirs together.
//
// Every rank of the exchange calls with its own move (which may be empty) and the same direction.
//   (C1) All ranks return the same verdict; each gets the count of its own bytes (V2). Whatever
//        fails on one rank, the others return too.
//   (C2) Which way is taken depends only on what all ranks have agreed on.
//        A rank whose bytes are long runs, or shorter ones in pages that are in memory, or that
//        went apart with such a move before, moves them before it meets the others, whom it then
//        meets once only.
//   (C3) The memory used is at most cb_buffer_size for each aggregator, and a constant.
// Where ranks write the same byte, it ends up with the value of one of them.
// Thread safety: as Exchange, one thread at a time for each rank.
#pragma once

#include <functional>

#include "tessera/move/engine.hpp"
#include "tessera/move/move.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/port/team.hpp"

namespace tessera::move {

// Whether the hints let a rank whose bytes are one run move them before it meets the others.
[[nodiscard]] bool may_go_ahead(Direction direction, const Hints& hints);

// The ranks of one node, through windows of common memory.
[[nodiscard]] Transfer execute_in_team(const Move& move, Context& context, port::Team& team);

// The end of execute_in_team() for a rank that has moved its bytes already, and well (C2).
// `context` is asked for only if others have something left to do, in which all take part.
[[nodiscard]] base::Result<void> finish_in_team(Direction direction, port::Team& team,
                                                const std::function<Context()>& context);

// Ranks of several nodes. node[r] is the node of rank r, the same on all ranks.
[[nodiscard]] Transfer execute_across_nodes(const Move& move, Context& context,
                                            port::Exchange& exchange, std::span<const int> node);

}  // namespace tessera::move
