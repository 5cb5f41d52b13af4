// MeshPlan: a choice of writers, and what it was made from as far as that is known.
//
// A plan that was made here knows the holders of every node. One that was loaded knows its writers
// and the fingerprint of the partition, which is all that its file has.
// Thread safety: const use from many threads is safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/capi/mesh_input.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"
#include "tessera/owner/writers_codec.hpp"

namespace tessera::capi {

class MeshPlan {
 public:
  // For who holds the nodes of a mesh, which follows from the partition. Fails as
  // owner::choose_writers().
  [[nodiscard]] static base::Result<MeshPlan> make(owner::Sharing sharing,
                                                   const mesh::Partition& partition,
                                                   const owner::PolicyOptions& options);
  // With a partition that METIS makes with the seed of the options; fails also as
  // mesh::partition_nodes().
  [[nodiscard]] static base::Result<MeshPlan> divide(const mesh::Mesh& mesh, int parts,
                                                     const owner::PolicyOptions& options);
  // Fails with kIntegrity if the file is no plan, damaged, or not for the partition.
  [[nodiscard]] static base::Result<MeshPlan> load(const std::string& path,
                                                   const std::optional<mesh::Partition>& partition);

  // The file is as it was where this fails.
  [[nodiscard]] base::Result<void> save(const std::string& path) const;

  [[nodiscard]] const owner::Writers& writers() const { return plan_.writers; }
  // Fails with kIntegrity if the plan is for another number of parts.
  [[nodiscard]] base::Result<void> check_parts(int parts) const;
  // Fail with kInvalid if there is no such part.
  [[nodiscard]] base::Result<Intervals> share(int part) const;
  [[nodiscard]] base::Result<std::vector<int64_t>> nodes(int part) const;
  // Also with kNotFound if the plan was loaded. Cost: O(stretches + lists of holders).
  [[nodiscard]] base::Result<std::vector<int64_t>> held(int part) const;
  [[nodiscard]] base::Result<std::vector<int32_t>> part_of() const;

 private:
  [[nodiscard]] base::Result<void> check_part(int part) const;
  [[nodiscard]] base::Result<const owner::Sharing*> sharing() const;

  owner::WriterPlan plan_;                 // with the fingerprint of the partition
  std::optional<owner::Sharing> sharing_;  // unless it was loaded
};

// A plan for a mesh in a file, and a partition in a file unless that has no name.
[[nodiscard]] base::Result<MeshPlan> plan_files(const std::string& mesh_path,
                                                const std::string& partition_path, int parts,
                                                const owner::PolicyOptions& options);

}  // namespace tessera::capi
