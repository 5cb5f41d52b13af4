// Cases of `tessera bench mesh` that write a field of a mesh, each node by one of the ranks that
// hold it.
//
// docs/benchmarks.md has the mesh, the contestants and the bars. Thread safety: one thread at a
// time.
#pragma once

#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "bench/mesh_shares.hpp"
#include "bench/mpiio_pool.hpp"

namespace tessera::bench {

// In the order of ranks, which is the order in which jobs are started and ended.
[[nodiscard]] std::vector<CaseMaker> mesh_write_cases(const std::shared_ptr<MpiPool>& pool,
                                                      const std::shared_ptr<MeshShares>& shares);

// What the mean of the ratios to the best stock mode must reach.
inline constexpr double kMeshMeanBar = 1.5;

}  // namespace tessera::bench
