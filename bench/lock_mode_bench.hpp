// Cases of what an access in atomic mode locks: nothing, the file, a range, or exactly its bytes.
//
// The three benchmarks of paper 1, run by ours in Open MPI on an emulated store and on local files.
// All modes are hints of the same job, so they meet the same processes, memory and files. Thread
// safety: one thread at a time.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> lock_mode_cases();

}  // namespace tessera::bench
