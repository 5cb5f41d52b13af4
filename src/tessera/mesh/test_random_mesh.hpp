// Small meshes for tests.
#pragma once

#include <vector>

#include "tessera/mesh/mesh.hpp"
#include "tessera/port/seeded_random.hpp"

namespace tessera::mesh {

// A mesh of random elements, of 1 to 4 nodes, over few nodes; some nodes are in none.
[[nodiscard]] inline Mesh random_mesh(port::Random& random, int64_t nodes, int64_t elements) {
  Mesh mesh(nodes);
  for (int64_t i = 0; i < elements; ++i) {
    std::vector<Node> element(1 + random.uniform(4));
    for (Node& node : element) {
      node = static_cast<Node>(random.uniform(static_cast<uint64_t>(nodes)));
    }
    mesh.add_element(element);
  }
  return mesh;
}

[[nodiscard]] inline Partition random_partition(port::Random& random, int64_t nodes, int parts) {
  Partition partition{.parts = parts, .part_of = {}};
  for (int64_t i = 0; i < nodes; ++i) {
    partition.part_of.push_back(static_cast<int32_t>(random.uniform(static_cast<uint64_t>(parts))));
  }
  return partition;
}

}  // namespace tessera::mesh
