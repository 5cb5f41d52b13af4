// Meshes in files, classified while they are read: none of their elements is kept.
//
// The same elements count as in a mesh that is loaded whole (mesh_file.hpp), so that both give the
// same sharing. Thread safety: different files from any threads.
#pragma once

#include <cstdint>
#include <functional>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/mesh_file.hpp"
#include "tessera/owner/sharing.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::mesh {

struct ClassifiedMesh {
  MeshFacts facts;
  Partition partition;
  owner::Sharing sharing;
};

// Finds the partition of so many nodes: every part has at least one of them.
using FindPartition = std::function<base::Result<Partition>(int64_t nodes)>;

// Fails as visit_mesh() and the function do. Memory: that of the partition and of a Classifier.
[[nodiscard]] base::Result<ClassifiedMesh> classify_file(port::File& file,
                                                         const FindPartition& find);

}  // namespace tessera::mesh
