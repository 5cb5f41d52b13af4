// Cases of `tessera bench mpiio` that are no times: memory a rank, and overlap with computation.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "bench/mpiio_pool.hpp"

namespace tessera::bench {

// Open MPI, 16 ranks, 1,000,000 runs each: how much the resident memory of a rank grows at most
// while a collective operation is under way.
[[nodiscard]] std::vector<CaseMaker> mpiio_memory_cases(const std::shared_ptr<MpiPool>& pool);
// One rank: how long a nonblocking write of 256 MiB takes beside a computation of its length.
[[nodiscard]] std::vector<CaseMaker> mpiio_overlap_cases(const std::shared_ptr<MpiPool>& pool);

}  // namespace tessera::bench
