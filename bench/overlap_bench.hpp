// Cases of the overlap test: two strided patterns of a million runs each.
//
// The peer walks the two expanded lists; both must agree before anything is measured.
// Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> overlap_cases();

}  // namespace tessera::bench
