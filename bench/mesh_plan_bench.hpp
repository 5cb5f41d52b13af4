// Cases of `tessera bench mesh` about plans: how long classification and the choice of writers
// take, how that grows, in how much memory, and what using a saved plan costs.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "bench/mesh_shares.hpp"
#include "bench/mpiio_pool.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> mesh_plan_cases(const std::shared_ptr<MpiPool>& pool,
                                                     const std::shared_ptr<MeshShares>& shares);

}  // namespace tessera::bench
