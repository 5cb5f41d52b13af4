#include "tessera/mesh/metis_partition.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "tessera/base/assert.hpp"

namespace tessera::mesh {

namespace {

using base::Code;
using base::fail;
using base::Result;

Result<void> check_sizes(const NodalGraph& graph, int parts) {
  if (parts < 1)
    return fail(Code::kInvalid, "a mesh cannot have " + std::to_string(parts) + " parts");
  if (parts > graph.nodes()) {
    return fail(Code::kInvalid, "a mesh of " + std::to_string(graph.nodes()) +
                                    " nodes cannot have " + std::to_string(parts) + " parts");
  }
  const int64_t most = std::numeric_limits<idx_t>::max();
  if (std::ssize(graph.neighbours) > most || graph.nodes() >= most) {
    return fail(Code::kInvalid, "the mesh has " + std::to_string(graph.nodes()) + " nodes and " +
                                    std::to_string(graph.neighbours.size()) +
                                    " neighbours of nodes; the METIS of this build counts to " +
                                    std::to_string(most) + "; give a partition file");
  }
  return {};
}

// Numbers as METIS takes them: the same memory if its numbers are ours.
class Numbers {
 public:
  explicit Numbers(std::span<const Node> numbers) : given_(numbers) {
    if constexpr (!std::is_same_v<idx_t, Node>) copy_.assign(numbers.begin(), numbers.end());
  }
  // METIS does not write to it.
  [[nodiscard]] idx_t* get() {
    if constexpr (std::is_same_v<idx_t, Node>) return const_cast<idx_t*>(given_.data());
    return copy_.data();
  }

 private:
  std::span<const Node> given_;
  std::vector<idx_t> copy_;
};

Result<Partition> run_metis(const NodalGraph& graph, int parts, uint64_t seed) {
  idx_t nodes = static_cast<idx_t>(graph.nodes());
  idx_t balances = 1;
  idx_t part_count = parts;
  idx_t cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & INT32_MAX);
  options[METIS_OPTION_NUMBERING] = 0;
  std::vector<idx_t> begins(graph.begins.begin(), graph.begins.end());
  std::vector<idx_t> part_of(static_cast<size_t>(nodes));
  Numbers neighbours(graph.neighbours);
  const int verdict =
      METIS_PartGraphKway(&nodes, &balances, begins.data(), neighbours.get(), nullptr, nullptr,
                          nullptr, &part_count, nullptr, nullptr, options, &cut, part_of.data());
  if (verdict == METIS_ERROR_MEMORY) {
    return fail(Code::kFailed, "METIS has not enough memory for the mesh");
  }
  if (verdict != METIS_OK) {
    return fail(Code::kFailed, "METIS failed with error " + std::to_string(verdict));
  }
  return Partition{.parts = parts, .part_of = {part_of.begin(), part_of.end()}};
}

// The nodes of a part as a breadth-first search reaches them, every component of it.
std::vector<Node> searched(const NodalGraph& graph, const Partition& partition, int32_t part) {
  std::vector<Node> reached;
  std::vector<bool> seen(partition.part_of.size(), false);
  const auto reach = [&](Node node) {
    const auto at = static_cast<size_t>(node);
    if (partition.part_of[at] != part || seen[at]) return;
    seen[at] = true;
    reached.push_back(node);
  };
  size_t next = 0;
  for (Node node = 0; node < graph.nodes(); ++node) {
    reach(node);
    for (; next < reached.size(); ++next) {
      for (const Node other : graph.of(reached[next])) reach(other);
    }
  }
  return reached;
}

void fill_empty_parts(const NodalGraph& graph, Partition& partition) {
  std::vector<int64_t> sizes(static_cast<size_t>(partition.parts), 0);
  for (const int32_t part : partition.part_of) ++sizes[static_cast<size_t>(part)];
  for (size_t empty = 0; empty < sizes.size(); ++empty) {
    if (sizes[empty] > 0) continue;
    const auto largest = std::ranges::max_element(sizes) - sizes.begin();
    const auto nodes = searched(graph, partition, static_cast<int32_t>(largest));
    const size_t kept = (nodes.size() + 1) / 2;
    TESSERA_ASSERT(kept < nodes.size());
    for (size_t i = kept; i < nodes.size(); ++i) {
      partition.part_of[static_cast<size_t>(nodes[i])] = static_cast<int32_t>(empty);
    }
    sizes[empty] = static_cast<int64_t>(nodes.size() - kept);
    sizes[static_cast<size_t>(largest)] = static_cast<int64_t>(kept);
  }
}

}  // namespace

Result<Partition> partition_nodes(const Mesh& mesh, int parts, uint64_t seed) {
  TESSERA_TRY(const auto graph, nodal_graph(mesh));
  return partition_graph(graph, parts, seed);
}

Result<Partition> partition_graph(const NodalGraph& graph, int parts, uint64_t seed) {
  TESSERA_TRY_VOID(check_sizes(graph, parts));
  if (parts == 1) {
    return Partition{.parts = 1,
                     .part_of = std::vector<int32_t>(static_cast<size_t>(graph.nodes()), 0)};
  }
  TESSERA_TRY(auto partition, run_metis(graph, parts, seed));
  fill_empty_parts(graph, partition);
  return partition;
}

}  // namespace tessera::mesh
