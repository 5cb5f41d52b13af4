// Cases of the join: what it costs against rows, against bytes and against the runs of the other
// side.
//
// The peers walk expanded lists of runs (expanded.hpp). Where the result is small enough, both must
// give the same pieces before anything is measured. Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> join_cases();

}  // namespace tessera::bench
