#include "tessera/mesh/order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/mesh/cuthill_mckee.hpp"
#include "tessera/mesh/hilbert.hpp"
#include "tessera/mesh/part_order.hpp"

namespace tessera::mesh {

namespace {

using base::Code;
using base::fail;
using base::Result;

struct Named {
  Order order;
  std::string_view name;
};
constexpr Named kNames[] = {
    {Order::kFile, "file"}, {Order::kRcm, "rcm"},         {Order::kX, "x"},  {Order::kY, "y"},
    {Order::kZ, "z"},       {Order::kHilbert, "hilbert"}, {Order::kIo, "io"}};

std::vector<Node> identity(int64_t nodes) {
  std::vector<Node> numbers(static_cast<size_t>(nodes));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// From the nodes in their new order to the new number of each.
std::vector<Node> numbers_of(std::span<const Node> sequence) {
  std::vector<Node> numbers(sequence.size());
  for (size_t i = 0; i < sequence.size(); ++i) {
    numbers[static_cast<size_t>(sequence[i])] = static_cast<Node>(i);
  }
  return numbers;
}

std::vector<Node> axis_order(const Mesh& mesh, size_t axis) {
  const auto key = [&](Node node) {
    const Position& at = mesh.positions[static_cast<size_t>(node)];
    return std::array{at[axis], at[(axis + 1) % 3], at[(axis + 2) % 3]};
  };
  std::vector<Node> sequence = identity(mesh.nodes());
  std::ranges::stable_sort(sequence, {}, key);
  return numbers_of(sequence);
}

std::vector<Node> hilbert_order(const Mesh& mesh) {
  std::vector<std::pair<uint64_t, Node>> places(static_cast<size_t>(mesh.nodes()));
  const HilbertCurve curve(mesh.positions);
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = {curve.place(mesh.positions[i]), static_cast<Node>(i)};
  }
  std::ranges::sort(places);
  std::vector<Node> numbers(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    numbers[static_cast<size_t>(places[i].second)] = static_cast<Node>(i);
  }
  return numbers;
}

Result<void> check_has_what_it_needs(const Mesh& mesh, Order order, const Partition* partition) {
  const bool from_graph = order == Order::kFile || order == Order::kRcm || order == Order::kIo;
  if (!from_graph && mesh.positions.empty() && mesh.nodes() > 0) {
    return fail(Code::kInvalid, "the order " + std::string(order_name(order)) +
                                    " needs positions of nodes, and the mesh has none");
  }
  if (order == Order::kIo && partition == nullptr) {
    return fail(Code::kInvalid, "the order io needs a partition");
  }
  return {};
}

}  // namespace

std::string_view order_name(Order order) {
  const auto* const named = std::ranges::find(kNames, order, &Named::order);
  TESSERA_ASSERT(named != std::end(kNames));
  return named->name;
}

Result<Order> parse_order(std::string_view name) {
  const auto* const named = std::ranges::find(kNames, name, &Named::name);
  if (named != std::end(kNames)) return named->order;
  std::string names;
  for (const Named& known : kNames) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return fail(Code::kInvalid,
              "there is no order '" + std::string(name) + "' of nodes; there are " + names);
}

Result<std::vector<Node>> order_nodes(const Mesh& mesh, Order order, const Partition* partition) {
  TESSERA_TRY_VOID(check_has_what_it_needs(mesh, order, partition));
  if (order == Order::kFile) return identity(mesh.nodes());
  if (order == Order::kHilbert) return hilbert_order(mesh);
  if (order == Order::kRcm || order == Order::kIo) {
    TESSERA_TRY(const auto graph, nodal_graph(mesh));
    if (order == Order::kRcm) return rcm_order(graph);
    const bool placed = !mesh.positions.empty();
    return io_order(graph, *partition, placed ? hilbert_order(mesh) : rcm_order(graph));
  }
  return axis_order(mesh, static_cast<size_t>(order) - static_cast<size_t>(Order::kX));
}

std::vector<Node> rcm_order(const NodalGraph& graph) {
  std::vector<Node> sequence = cuthill_mckee(graph);
  std::ranges::reverse(sequence);
  // A METIS mesh ends with the last node that an element names, so a node alone is not put there.
  std::stable_partition(sequence.begin(), sequence.end(),
                        [&](Node node) { return graph.of(node).empty(); });
  return numbers_of(sequence);
}

std::vector<Node> io_order(const NodalGraph& graph, const Partition& partition,
                           std::span<const Node> inside) {
  TESSERA_ASSERT(std::ssize(inside) == graph.nodes());
  const std::vector<int32_t> parts = part_sequence(graph, partition);
  std::vector<int64_t> rank_of(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    rank_of[static_cast<size_t>(parts[i])] = static_cast<int64_t>(i);
  }
  std::vector<Node> sequence = identity(graph.nodes());
  std::ranges::sort(sequence, {}, [&](Node node) {
    const auto at = static_cast<size_t>(node);
    return std::pair(rank_of[static_cast<size_t>(partition.part_of[at])], inside[at]);
  });
  return numbers_of(sequence);
}

Mesh renumbered(const Mesh& mesh, std::span<const Node> new_number) {
  TESSERA_ASSERT(std::ssize(new_number) == mesh.nodes());
  Mesh result(mesh.nodes());
  std::vector<Node> element;
  for (int64_t i = 0; i < mesh.elements(); ++i) {
    element.clear();
    for (const Node node : mesh.element(i)) {
      element.push_back(new_number[static_cast<size_t>(node)]);
    }
    result.add_element(element);
  }
  result.positions.resize(mesh.positions.size());
  for (size_t i = 0; i < mesh.positions.size(); ++i) {
    result.positions[static_cast<size_t>(new_number[i])] = mesh.positions[i];
  }
  return result;
}

Partition renumbered(const Partition& partition, std::span<const Node> new_number) {
  TESSERA_ASSERT(new_number.size() == partition.part_of.size());
  Partition result{.parts = partition.parts, .part_of = std::vector<int32_t>(new_number.size())};
  for (size_t i = 0; i < new_number.size(); ++i) {
    result.part_of[static_cast<size_t>(new_number[i])] = partition.part_of[i];
  }
  return result;
}

}  // namespace tessera::mesh
