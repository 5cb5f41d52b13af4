// The order of the parts of a partition in which parts that follow each other touch.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/nodal_graph.hpp"

namespace tessera::mesh {

// Every part once. A path through the parts: the next is, of the parts that are left, the one that
// the last touches with most edges; where none touches it, the one that touches the path latest;
// and where none touches the path, the first one left. The path begins at a part that touches
// fewest. Requires a partition of the nodes of the graph. Cost: O(nodes + neighbours), and O(parts)
// at every dead end.
[[nodiscard]] std::vector<int32_t> part_sequence(const NodalGraph& graph,
                                                 const Partition& partition);

}  // namespace tessera::mesh
