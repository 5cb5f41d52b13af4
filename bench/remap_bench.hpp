// Remapping, against `cp` of the same file: bytes that find their place on the way cost little more
// than bytes that stay where they are.
//
// The source is an object file laid out for its writers, in the page cache; ours lays it out for
// its readers, by the function that `tessera remap` calls, and the peer copies it.
// Thread safety: as MpiPool.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> remap_cases();

}  // namespace tessera::bench
