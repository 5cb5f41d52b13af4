// Window copies: a stretch of a move's stream, copied to or from a window of the file.
//
// A window holds only a part of a move, and an irregular move has many windows: where memory is one
// run, the stretch is walked where it lies in the pattern, and nothing is built for it.
// Thread safety: calls on disjoint bytes may run at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/move/move.hpp"

namespace tessera::move {

// Byte p of the file is at window[p - begin]. Requires that the window holds every position of the
// stretch. Cost: O(bytes + runs + depth).
void copy_stretch(const Move& move, Interval stream, std::byte* window, int64_t begin);

}  // namespace tessera::move
