// The price of tiles that are read from one place: what the copies take, how long it takes to lay
// them out, and after how many reads that has paid.
//
// Thread safety: as MpiPool.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> price_cases();

}  // namespace tessera::bench
