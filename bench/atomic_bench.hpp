// Cases of atomic mode against that of the stock libraries in the same Open MPI, on local files.
//
// How fast it is, and whether it is atomic: overlapping strided writes of several ranks, of which
// the stock libraries may mix some. Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> atomic_cases();

}  // namespace tessera::bench
