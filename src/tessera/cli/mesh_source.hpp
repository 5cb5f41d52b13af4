// Meshes and partitions as the mesh commands take them: from files, or made by METIS.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/mesh/classified_file.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/mesh_file.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::cli {

// Where a partition comes from.
struct PartitionChoice {
  int parts = 0;     // 0: as many as the file has
  std::string path;  // of a partition file; empty: METIS makes it
  uint64_t seed = 1;

  [[nodiscard]] bool is_given() const { return parts > 0 || !path.empty(); }
};

// As mesh::load_mesh(), telling how far it is.
[[nodiscard]] base::Result<mesh::LoadedMesh> read_mesh(port::PlainFile& file);

// Classifies the elements as they are read and keeps none of them. Requires a partition file.
// Fails as the readers do, and with kInvalid if the file has not `parts` parts.
[[nodiscard]] base::Result<mesh::ClassifiedMesh> read_classified(port::PlainFile& file,
                                                                 const PartitionChoice& choice);

// Reads or makes the partition of a mesh. Requires choice.is_given().
[[nodiscard]] base::Result<mesh::Partition> find_partition(const mesh::Mesh& mesh,
                                                           const PartitionChoice& choice);

// Replaces the file of that name by a partition.
[[nodiscard]] base::Result<void> save_partition(const std::string& path,
                                                const mesh::Partition& partition);

}  // namespace tessera::cli
