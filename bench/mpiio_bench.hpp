// Cases of `tessera bench mpiio`: our MPI-IO against the stock libraries of the same MPI.
//
// docs/benchmarks.md has the workloads, the modes of the peers and the bars. Memory and overlap are
// in mpiio_resource_bench.hpp. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/mpiio_pool.hpp"

namespace tessera::bench {

// In the order of MPIs and ranks, which is the order in which jobs are started and ended.
[[nodiscard]] std::vector<CaseMaker> mpiio_cases(const std::shared_ptr<MpiPool>& pool);

// What collective accesses of records dealt in turn are held to besides.
[[nodiscard]] std::vector<Bar> column_bars(const std::string& mpi, int ranks, int64_t record_bytes);

// What a case must reach.
inline constexpr double kMpiioMeanBar = 2.0;

}  // namespace tessera::bench
