// Fingerprints of partitions: whether a saved plan is one for the partition at hand.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "tessera/mesh/mesh.hpp"

namespace tessera::mesh {

// 64 bits of the number of nodes, the number of parts and the part of every node: the same on every
// machine and in every version, so they may stand in files. They tell mistakes, not forgeries.
// Cost: O(nodes), at memory speed.
[[nodiscard]] uint64_t fingerprint(const Partition& partition);

}  // namespace tessera::mesh
