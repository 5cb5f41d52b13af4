// The case of `tessera bench mesh` without a mesh: blocks with ghost layers, which overlap.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "bench/mpiio_pool.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> halo_cases(const std::shared_ptr<MpiPool>& pool);

}  // namespace tessera::bench
