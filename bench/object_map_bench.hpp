// What the map of an object file costs: bytes for regular and irregular files, and time to open.
//
// Thread safety: as Bench.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> object_map_cases();

}  // namespace tessera::bench
