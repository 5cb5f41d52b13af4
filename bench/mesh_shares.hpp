// The mesh of `tessera bench mesh`, and who writes which of its nodes.
//
// A box of tetrahedra, its nodes numbered along an axis or by reverse Cuthill-McKee, partitioned by
// METIS into as many parts as there are ranks. The MPI peer (mpiio_shared.c) links none of that: it
// reads who writes what from a file, shares.NUMBER.CHOICE in the folder of the jobs, of 64-bit
// numbers of this machine: ranks, nodes, intervals, and begin, end and writer of each interval.
// Everything is made when first needed, once. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/mpiio_pool.hpp"
#include "tessera/base/result.hpp"
#include "tessera/mesh/grid_mesh.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/order.hpp"
#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::bench {

// 46,656 nodes.
inline constexpr mesh::GridSize kBenchGrid = {36, 36, 36};

// Whose shares.
struct ShareChoice {
  mesh::Order order = mesh::Order::kRcm;
  int ranks = 1;
  owner::Policy policy = owner::Policy::kOptimal;
};

// What the peer reads.
[[nodiscard]] std::vector<int64_t> share_words(const owner::Writers& writers);

class MeshShares {
 public:
  explicit MeshShares(std::shared_ptr<MpiPool> pool, const mesh::GridSize& grid = kBenchGrid)
      : pool_(std::move(pool)), grid_(grid) {}

  // Valid while this lives. Fails as METIS or the policy does.
  [[nodiscard]] base::Result<const owner::Writers*> writers(const ShareChoice& choice);
  // A field of so many doubles a node; its shares are in their file. Fails as writers() and where
  // the file cannot be written.
  [[nodiscard]] base::Result<Workload> workload(const ShareChoice& choice, int64_t load);

 private:
  using Key = std::pair<mesh::Order, int>;

  base::Result<const mesh::Mesh*> mesh(mesh::Order order);
  base::Result<const owner::Sharing*> sharing(mesh::Order order, int ranks);
  base::Result<void> write_file(const owner::Writers& writers, const std::string& name);

  std::shared_ptr<MpiPool> pool_;
  mesh::GridSize grid_;
  std::map<mesh::Order, mesh::Mesh> meshes_;
  std::map<Key, owner::Sharing> sharings_;
  std::map<std::pair<Key, owner::Policy>, owner::Writers> writers_;
  std::map<std::string, bool> written_;  // by the name of the file
};

}  // namespace tessera::bench
