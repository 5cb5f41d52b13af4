// Cases of the tile wall: the encoded size of a tile's view, and the object set of all readers.
//
// Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> wall_cases();

}  // namespace tessera::bench
