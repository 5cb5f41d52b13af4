#include "tessera/mesh/nodal_graph.hpp"

#include <string>

namespace tessera::mesh {

namespace {

constexpr int64_t kMaxElements = UINT32_MAX;

// The elements of every node.
struct Incidence {
  std::vector<int64_t> begins;  // of node i's elements; one more at the end
  std::vector<uint32_t> elements;

  [[nodiscard]] std::span<const uint32_t> of(Node node) const {
    const auto at = static_cast<size_t>(node);
    return std::span(elements).subspan(static_cast<size_t>(begins[at]),
                                       static_cast<size_t>(begins[at + 1] - begins[at]));
  }
};

base::Result<void> check_elements(const Mesh& mesh) {
  if (mesh.elements() > kMaxElements) {
    return base::fail(base::Code::kInvalid,
                      "the mesh has " + std::to_string(mesh.elements()) +
                          " elements; the neighbours of its nodes can be found for up to " +
                          std::to_string(kMaxElements));
  }
  for (int64_t i = 0; i < mesh.elements(); ++i) {
    const int64_t nodes = std::ssize(mesh.element(i));
    if (nodes <= kMaxElementNodes) continue;
    return base::fail(base::Code::kInvalid,
                      "element " + std::to_string(i) + " has " + std::to_string(nodes) +
                          " nodes; the neighbours of nodes can be found for elements of up to " +
                          std::to_string(kMaxElementNodes));
  }
  return {};
}

Incidence incidence_of(const Mesh& mesh) {
  Incidence incidence;
  incidence.begins.assign(static_cast<size_t>(mesh.nodes()) + 1, 0);
  for (const Node node : mesh.corners()) ++incidence.begins[static_cast<size_t>(node)];
  int64_t sum = 0;
  for (int64_t& begin : incidence.begins) begin = sum += begin;
  incidence.elements.resize(mesh.corners().size());
  // Every begin is now an end, and goes down to its begin as its elements are filled in.
  for (int64_t i = mesh.elements(); i-- > 0;) {
    for (const Node node : mesh.element(i)) {
      incidence.elements[static_cast<size_t>(--incidence.begins[static_cast<size_t>(node)])] =
          static_cast<uint32_t>(i);
    }
  }
  return incidence;
}

}  // namespace

base::Result<NodalGraph> nodal_graph(const Mesh& mesh) {
  TESSERA_TRY_VOID(check_elements(mesh));
  const Incidence incidence = incidence_of(mesh);
  NodalGraph graph;
  graph.begins.reserve(static_cast<size_t>(mesh.nodes()) + 1);
  std::vector<Node> seen_by(static_cast<size_t>(mesh.nodes()), -1);
  const auto see = [&](Node node, std::span<const Node> others) {
    for (const Node other : others) {
      Node& seen = seen_by[static_cast<size_t>(other)];
      if (seen == node) continue;
      seen = node;
      graph.neighbours.push_back(other);
    }
  };
  const auto corners = mesh.corners();
  for (Node node = 0; node < mesh.nodes(); ++node) {
    seen_by[static_cast<size_t>(node)] = node;
    for (const uint32_t element : incidence.of(node)) {
      const auto begin = static_cast<size_t>(mesh.begins()[element]);
      const auto end = static_cast<size_t>(mesh.begins()[element + size_t{1}]);
      see(node, corners.subspan(begin, end - begin));
    }
    graph.begins.push_back(std::ssize(graph.neighbours));
  }
  return graph;
}

}  // namespace tessera::mesh
