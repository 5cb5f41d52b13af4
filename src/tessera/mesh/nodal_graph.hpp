// The nodal graph of a mesh: the neighbours of every node.
//
// Two nodes are neighbours if an element has both. Orders of nodes and partitions are made from it.
// Thread safety: a value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh.hpp"

namespace tessera::mesh {

//   (G1) No node is its own neighbour, none is listed twice, and neighbours are so mutually.
struct NodalGraph {
  std::vector<int64_t> begins = {0};  // of node i's neighbours; one more at the end
  std::vector<Node> neighbours;

  [[nodiscard]] int64_t nodes() const { return std::ssize(begins) - 1; }
  [[nodiscard]] std::span<const Node> of(Node node) const {
    const auto at = static_cast<size_t>(node);
    return std::span(neighbours)
        .subspan(static_cast<size_t>(begins[at]), static_cast<size_t>(begins[at + 1] - begins[at]));
  }
};

// Cost: O(nodes + the sum over the elements of the square of their size), and memory for the
// elements of every node on the way. Fails with kInvalid if there are 2^32 elements or more, or one
// has more than kMaxElementNodes nodes.
[[nodiscard]] base::Result<NodalGraph> nodal_graph(const Mesh& mesh);

}  // namespace tessera::mesh
