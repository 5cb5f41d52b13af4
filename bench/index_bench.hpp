// Cases of the object index: a query "which objects meet [a,b)" over many objects.
//
// Ours is object::ObjectIndex; the peers are std::map, absl::btree_map and a sorted array, each
// walked from its lower bound, and the paper's midpoint tree. All must find the same objects before
// any is measured. Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> index_cases();

}  // namespace tessera::bench
