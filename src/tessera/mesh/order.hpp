// Orders of nodes: how the nodes of a mesh are numbered, which is where their values lie in files.
//
// How much grouping can gain depends on the order alone: where neighbours have near numbers, the
// nodes of a part lie together and the shared ones between them.
//   rcm      reverse Cuthill-McKee: breadth first from a node at the rim, neighbours of few
//            neighbours first, then backwards; every component by itself, and before them the
//            nodes without neighbours
//   x, y, z  along an axis; ties go by the axes that follow it
//   hilbert  along a Hilbert curve through the box of the mesh
//   io       for a partition: the nodes of each part together, so that every part is one interval,
//            and parts that follow each other touch where they can; inside a part as hilbert has
//            them, or rcm where there are no positions, which serves other partitions too
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/nodal_graph.hpp"

namespace tessera::mesh {

enum class Order { kFile, kRcm, kX, kY, kZ, kHilbert, kIo };

[[nodiscard]] std::string_view order_name(Order order);  // "file" for kFile
// Fails with kInvalid, naming all orders.
[[nodiscard]] base::Result<Order> parse_order(std::string_view name);

// The new number of each node: a permutation of 0 to nodes() - 1. `partition` is looked at for kIo
// only. Fails with kInvalid if the order needs positions, or a partition, and there is none.
// Cost: O(n log n), for kRcm and kIo linear besides sorting the neighbours of each node.
[[nodiscard]] base::Result<std::vector<Node>> order_nodes(const Mesh& mesh, Order order,
                                                          const Partition* partition);

[[nodiscard]] std::vector<Node> rcm_order(const NodalGraph& graph);
// `inside` is the number of each node in the order that the nodes of a part keep. Requires a
// partition of the nodes of the graph, and a permutation of them.
[[nodiscard]] std::vector<Node> io_order(const NodalGraph& graph, const Partition& partition,
                                         std::span<const Node> inside);

// The same mesh, and the same partition, under new numbers. Require a permutation.
[[nodiscard]] Mesh renumbered(const Mesh& mesh, std::span<const Node> new_number);
[[nodiscard]] Partition renumbered(const Partition& partition, std::span<const Node> new_number);

}  // namespace tessera::mesh
