// Meshes of C programs: their plain arrays become meshes, partitions and blocks, or an error that
// names the entry that is wrong.
//
//   (I1) No combination of numbers overflows or aborts: what is out of bounds is refused.
//   (I2) Nothing is read behind what the numbers before have promised.
// Thread safety: pure functions.
#pragma once

#include <tessera_mesh.h>

#include <span>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::capi {

// All fail with kInvalid; pointers may be null where that is allowed in C.
[[nodiscard]] base::Result<mesh::Mesh> mesh_of(const tessera_mesh_elements* elements);
[[nodiscard]] base::Result<mesh::Partition> partition_of(const tessera_mesh_partition* partition);
// Who holds the nodes of a mesh, without a copy of its elements.
[[nodiscard]] base::Result<owner::Sharing> sharing_of(const tessera_mesh_elements* elements,
                                                      const mesh::Partition& partition);
[[nodiscard]] base::Result<owner::PolicyOptions> options_of(const tessera_mesh_options* options);

using Intervals = std::vector<tessera_mesh_interval>;

// Nodes that ascend. Cost: O(1); who uses them checks the order.
[[nodiscard]] base::Result<std::span<const int64_t>> nodes_of(const tessera_mesh_node_list* list);
// The intervals of nodes. Fails if they do not ascend from 0 or more.
[[nodiscard]] base::Result<Intervals> intervals_of(std::span<const int64_t> nodes);
// Where the nodes of a share are among others. Fails if those do not ascend, or lack one.
[[nodiscard]] base::Result<Intervals> places_within(std::span<const tessera_mesh_interval> share,
                                                    std::span<const int64_t> held);

struct Blocks {
  std::vector<int> lengths;      // in nodes
  std::vector<int64_t> offsets;  // in bytes
};
[[nodiscard]] base::Result<Blocks> blocks_of(const tessera_mesh_record& record,
                                             std::span<const tessera_mesh_interval> intervals);

}  // namespace tessera::capi
