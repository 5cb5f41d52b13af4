#include "tessera/mesh/nodal_graph.hpp"

#include <string>

namespace tessera::mesh {

namespace {

constexpr int64_t kMaxElements = UINT32_MAX;

// The elements of every node.
struct Incidence {
  std::vector<int64_t> begins;  // of node i's elements; one more at the end
  std::vector<uint32_t> elements;
};

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
  if (mesh.elements() > kMaxElements) {
    return base::fail(base::Code::kInvalid,
                      "the mesh has " + std::to_string(mesh.elements()) +
                          " elements; the neighbours of its nodes can be found for up to " +
                          std::to_string(kMaxElements));
  }
  const Incidence incidence = incidence_of(mesh);
  NodalGraph graph;
  graph.begins.reserve(static_cast<size_t>(mesh.nodes()) + 1);
  std::vector<Node> seen_by(static_cast<size_t>(mesh.nodes()), -1);
  for (Node node = 0; node < mesh.nodes(); ++node) {
    const auto at = static_cast<size_t>(node);
    seen_by[at] = node;
    for (int64_t i = incidence.begins[at]; i < incidence.begins[at + 1]; ++i) {
      for (const Node other : mesh.element(incidence.elements[static_cast<size_t>(i)])) {
        if (seen_by[static_cast<size_t>(other)] == node) continue;
        seen_by[static_cast<size_t>(other)] = node;
        graph.neighbours.push_back(other);
      }
    }
    graph.begins.push_back(std::ssize(graph.neighbours));
  }
  return graph;
}

}  // namespace tessera::mesh
