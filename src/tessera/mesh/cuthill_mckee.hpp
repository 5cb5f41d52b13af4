// Cuthill-McKee: the nodes of a graph, breadth first from nodes at its rim.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "tessera/mesh/nodal_graph.hpp"

namespace tessera::mesh {

// Every node once, component by component. Each component begins at a node from which its farthest
// node is about as far as two of its nodes can be. Cost: O(nodes + neighbours), besides sorting the
// neighbours of each node by how many they have themselves.
[[nodiscard]] std::vector<Node> cuthill_mckee(const NodalGraph& graph);

}  // namespace tessera::mesh
