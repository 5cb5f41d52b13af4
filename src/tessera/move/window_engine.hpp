// The window engine: the ranks of one node move their bytes through two windows of common memory.
//
// A write: every rank copies its bytes of a round into the window, in the order of the file; then
// one rank writes the window as one run, while the others go on with the next round in the other
// window. A read goes the other way. So a round costs one meeting, and a byte one copy, however
// short the runs are; ranks take turns with the transfers.
//
//   write   meeting   | copy 0 | write 0, copy 1 | write 1, copy 2 | ...
//   read    meeting   | read 0 | copy 0, read 1  | copy 1, read 2  | ...
//
// A window is written whole if every byte of it is provided, which follows from the number of bytes
// where no two ranks overlap, and from a coverage map otherwise.
// Thread safety: as Team.
#pragma once

#include <optional>

#include "tessera/move/collective_choice.hpp"
#include "tessera/move/engine.hpp"
#include "tessera/move/move.hpp"
#include "tessera/port/team.hpp"

namespace tessera::move {

// Moves the bytes of all ranks and agrees on the verdict; nothing, on all ranks alike, if `way` is
// kUndecided and the schedule shows that moving separately costs less, or if there is no memory.
// What the schedule decides is left in `way`.
// Requires that all ranks have the same picture and way.
[[nodiscard]] std::optional<Transfer> move_through_windows(const Move& move, Context& context,
                                                           port::Team& team, const Picture& picture,
                                                           WayChoice& way);

}  // namespace tessera::move
