// What `tessera mesh plan` shows of a mesh, its partition and the plans for them.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/mesh/mesh_file.hpp"
#include "tessera/mesh/order.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::cli {

// One policy's choice, or why it found none.
struct PlannedPolicy {
  owner::Policy policy = owner::Policy::kOptimal;
  std::optional<owner::Writers> writers;
  owner::WriterMetrics metrics;  // of the writers
  std::string failure;           // where there are none
  double seconds = 0;
};

struct MeshPlanFacts {
  std::string path;
  mesh::MeshFacts mesh;
  mesh::Order order = mesh::Order::kFile;
  int parts = 0;
  std::string partition_path;  // empty: METIS made it
  uint64_t seed = 0;           // of METIS
  uint64_t fingerprint = 0;    // of the partition
  int64_t shared_nodes = 0;
  int64_t replicas = 0;  // nodes, counted once for each part that holds them
  double replication_percent = 0;
  std::vector<PlannedPolicy> planned;                    // as they were asked for
  int64_t optimal_intervals = 0;                         // the fewest that there can be
  std::vector<std::pair<std::string, double>> stages_s;  // where the time went, in order
};

}  // namespace tessera::cli
