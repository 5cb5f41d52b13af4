// Independent moves: one process executes its own, meeting nobody.
//
// Thread safety: calls with different contexts may run at the same time, also on one file.
#pragma once

#include "tessera/move/engine.hpp"
#include "tessera/move/move.hpp"

namespace tessera::move {

// The engine that costs least for this move, among those the hints allow.
[[nodiscard]] Choice choose_independent(const Move& move, const Hints& hints, const Costs& costs);

// Executes the move and says in context.choice how. A write that reads first does so under an
// exclusive lock of exactly the piece that it rewrites, piece by piece; where the file cannot be
// read (opened for writing only) the list engine writes instead.
[[nodiscard]] Transfer execute_independent(const Move& move, Context& context);

// The engines themselves, for whoever has chosen. Requires a move whose file bytes are one run.
[[nodiscard]] Transfer execute_direct(const Move& move, Context& context);
[[nodiscard]] Transfer execute_list(const Move& move, Context& context);
[[nodiscard]] Transfer execute_sieve(const Move& move, Context& context);

}  // namespace tessera::move
