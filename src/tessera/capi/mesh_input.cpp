#include "tessera/capi/mesh_input.hpp"

#include <climits>
#include <cstddef>
#include <string>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/mesh/classify.hpp"
#include "tessera/owner/writers_codec.hpp"

namespace tessera::capi {

namespace {

using base::Code;
using base::Failure;
using base::Result;
using std::to_string;

Failure invalid(std::string text) { return base::fail(Code::kInvalid, std::move(text)); }

std::string named(const char* what, size_t index) { return what + (" " + to_string(index)); }

Result<void> check_nodes(int64_t nodes) {
  if (nodes < 0) return invalid("a mesh of " + to_string(nodes) + " nodes");
  if (nodes > mesh::kMaxNodes) {
    return invalid(to_string(nodes) + " nodes are more than 2^31 - 1");
  }
  return {};
}

Result<std::span<const mesh::Node>> corners_of(const tessera_mesh_elements& elements,
                                               size_t index) {
  const int64_t begin = elements.begins[index];
  const int64_t end = elements.begins[index + 1];
  if (end < begin) {
    return invalid(named("element", index) + " ends at corner " + to_string(end) +
                   ", before it begins at " + to_string(begin));
  }
  if (end > begin && elements.corners == nullptr) return invalid("there are no corners");
  const std::span corners(elements.corners + begin, static_cast<size_t>(end - begin));
  for (const mesh::Node node : corners) {
    if (node >= 0 && node < elements.nodes) continue;
    return invalid(named("element", index) + " has the corner " + to_string(node) +
                   " in a mesh of " + to_string(elements.nodes) + " nodes");
  }
  return corners;
}

// Gives every element to a function, in their order.
template <typename Take>
Result<void> visit(const tessera_mesh_elements& elements, Take take) {
  TESSERA_TRY_VOID(check_nodes(elements.nodes));
  if (elements.elements < 0) {
    return invalid("a mesh of " + to_string(elements.elements) + " elements");
  }
  if (elements.elements == 0) return {};
  if (elements.begins == nullptr) return invalid("there are no begins of elements");
  if (elements.begins[0] != 0) {
    return invalid("element 0 begins at corner " + to_string(elements.begins[0]));
  }
  for (size_t i = 0; i < static_cast<size_t>(elements.elements); ++i) {
    TESSERA_TRY(const auto corners, corners_of(elements, i));
    take(corners);
  }
  return {};
}

Failure out_of_order(std::span<const int64_t> nodes, size_t at) {
  if (at == 0) return invalid("node " + to_string(nodes[0]) + " is negative");
  return invalid("node " + to_string(nodes[at]) + " at place " + to_string(at) +
                 " of the list does not come behind node " + to_string(nodes[at - 1]));
}

bool is_in_order(std::span<const int64_t> nodes, size_t at) {
  return at == 0 ? nodes[0] >= 0 : nodes[at - 1] < nodes[at];
}

void append_place(Intervals& intervals, int64_t place) {
  if (!intervals.empty() && intervals.back().end == place) {
    ++intervals.back().end;
  } else {
    intervals.push_back({place, place + 1});
  }
}

std::string text_of(int64_t begin, int64_t end) {
  return "[" + to_string(begin) + ", " + to_string(end) + ")";
}

// The bytes of a node, if the whole record has a number of bytes.
Result<int64_t> node_bytes_of(const tessera_mesh_record& record) {
  if (record.nodes < 0) return invalid("a record of " + to_string(record.nodes) + " nodes");
  if (record.load <= 0) return invalid("a load of " + to_string(record.load) + " elements a node");
  if (record.element_bytes <= 0) {
    return invalid("elements of " + to_string(record.element_bytes) + " bytes");
  }
  const auto node_bytes = base::checked_mul(record.load, record.element_bytes);
  if (!node_bytes || !base::checked_mul(*node_bytes, record.nodes)) {
    return invalid("a record of " + to_string(record.nodes) + " nodes with " +
                   to_string(record.load) + " elements of " + to_string(record.element_bytes) +
                   " bytes has more than 2^63 bytes");
  }
  return *node_bytes;
}

}  // namespace

Result<mesh::Mesh> mesh_of(const tessera_mesh_elements* elements) {
  if (elements == nullptr) return invalid("there is no mesh");
  mesh::Mesh made(elements->nodes);
  TESSERA_TRY_VOID(
      visit(*elements, [&](std::span<const mesh::Node> nodes) { made.add_element(nodes); }));
  return made;
}

Result<owner::Sharing> sharing_of(const tessera_mesh_elements* elements,
                                  const mesh::Partition& partition) {
  if (elements == nullptr) return invalid("there is no mesh");
  TESSERA_TRY_VOID(check_nodes(elements->nodes));
  if (elements->nodes != std::ssize(partition.part_of)) {
    return invalid("a partition of " + to_string(partition.part_of.size()) +
                   " nodes for a mesh of " + to_string(elements->nodes));
  }
  mesh::Classifier classifier(partition);
  TESSERA_TRY_VOID(
      visit(*elements, [&](std::span<const mesh::Node> nodes) { classifier.element(nodes); }));
  return classifier.finish();
}

Result<mesh::Partition> partition_of(const tessera_mesh_partition* partition) {
  if (partition == nullptr) return invalid("there is no partition");
  TESSERA_TRY_VOID(check_nodes(partition->nodes));
  if (partition->parts <= 0) {
    return invalid("a partition of " + to_string(partition->parts) + " parts");
  }
  if (partition->parts > owner::kPlanMaxProcesses) {
    return invalid(to_string(partition->parts) + " parts are more than 2^24");
  }
  const auto count = static_cast<size_t>(partition->nodes);
  if (count > 0 && partition->part_of == nullptr) return invalid("there are no parts of nodes");
  const std::span part_of(partition->part_of, count);
  for (size_t node = 0; node < count; ++node) {
    if (part_of[node] >= 0 && part_of[node] < partition->parts) continue;
    return invalid(named("node", node) + " is in part " + to_string(part_of[node]) + " of " +
                   to_string(partition->parts));
  }
  return mesh::Partition{partition->parts, {part_of.begin(), part_of.end()}};
}

Result<owner::PolicyOptions> options_of(const tessera_mesh_options* options) {
  owner::PolicyOptions made;
  if (options == nullptr) return made;
  if (options->policy != nullptr) {
    TESSERA_TRY(made.policy, owner::parse_policy(options->policy));
  }
  made.max_imbalance = options->max_imbalance;
  made.seed = options->seed;
  return made;
}

Result<std::span<const int64_t>> nodes_of(const tessera_mesh_node_list* list) {
  if (list == nullptr || (list->nodes == nullptr && list->count > 0)) {
    return invalid("there is no list of nodes");
  }
  return std::span(list->nodes, list->count);
}

Result<Intervals> intervals_of(std::span<const int64_t> nodes) {
  Intervals made;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!is_in_order(nodes, i)) return out_of_order(nodes, i);
    if (nodes[i] == INT64_MAX) return invalid("there is no node " + to_string(nodes[i]));
    append_place(made, nodes[i]);
  }
  return made;
}

Result<Intervals> places_within(std::span<const tessera_mesh_interval> share,
                                std::span<const int64_t> held) {
  for (size_t i = 0; i < held.size(); ++i) {
    if (!is_in_order(held, i)) return out_of_order(held, i);
  }
  Intervals made;
  size_t at = 0;
  for (const tessera_mesh_interval& interval : share) {
    for (int64_t node = interval.begin; node < interval.end; ++node, ++at) {
      while (at < held.size() && held[at] < node) ++at;
      if (at == held.size() || held[at] != node) {
        return invalid("node " + to_string(node) + ", which the part writes, is not in the list");
      }
      append_place(made, static_cast<int64_t>(at));
    }
  }
  return made;
}

Result<Blocks> blocks_of(const tessera_mesh_record& record,
                         std::span<const tessera_mesh_interval> intervals) {
  TESSERA_TRY(const int64_t node_bytes, node_bytes_of(record));
  if (intervals.size() > INT_MAX) {
    return invalid(to_string(intervals.size()) + " intervals are more than an int counts");
  }
  Blocks made;
  int64_t free_from = 0;
  for (const auto& [begin, end] : intervals) {
    if (begin < free_from || end <= begin || end > record.nodes) {
      return invalid(text_of(begin, end) + " is no interval of the nodes from " +
                     to_string(free_from) + " to " + to_string(record.nodes));
    }
    if (end - begin > INT_MAX) return invalid(text_of(begin, end) + " is longer than an int");
    made.lengths.push_back(static_cast<int>(end - begin));
    made.offsets.push_back(begin * node_bytes);
    free_from = end;
  }
  return made;
}

}  // namespace tessera::capi
