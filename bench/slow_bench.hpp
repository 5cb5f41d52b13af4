// Tiles on a slow file system, where what counts is how many requests a reader has to wait for.
//
// Thread safety: as MpiPool.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> slow_cases();

}  // namespace tessera::bench
