// Partitions made in process: METIS's k-way partitioning of the nodal graph.
//
// METIS balances the nodes of the parts and cuts few edges, which is few shared nodes. It may leave
// parts empty, mostly when there are nearly as many parts as nodes; every empty part then gets half
// of the nodes of the largest, the half that a breadth-first search through it reaches last.
// Thread safety: METIS draws from the C library's random numbers, so one call at a time.
#pragma once

#include <cstdint>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/nodal_graph.hpp"

namespace tessera::mesh {

// Every part has at least one node. The same seed gives the same partition.
// Fails with kInvalid if parts is below 1 or above the number of nodes, or if the graph is larger
// than METIS was built for (2^31 - 1 entries where it counts in 32 bits); with kFailed if METIS
// has not enough memory.
[[nodiscard]] base::Result<Partition> partition_nodes(const Mesh& mesh, int parts, uint64_t seed);
// For those who have the graph already.
[[nodiscard]] base::Result<Partition> partition_graph(const NodalGraph& graph, int parts,
                                                      uint64_t seed);

}  // namespace tessera::mesh
