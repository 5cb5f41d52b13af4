#include "tessera/mesh/nodal_graph.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tessera/mesh/test_random_mesh.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mesh {
namespace {

std::vector<std::set<Node>> model(const Mesh& mesh) {
  std::vector<std::set<Node>> neighbours(static_cast<size_t>(mesh.nodes()));
  for (int64_t i = 0; i < mesh.elements(); ++i) {
    for (const Node a : mesh.element(i)) {
      for (const Node b : mesh.element(i)) {
        if (a != b) neighbours[static_cast<size_t>(a)].insert(b);
      }
    }
  }
  return neighbours;
}

TEST(NodalGraph, HasTheNeighboursOfEveryNodeOnce) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 500; ++round) {
    const auto nodes = static_cast<int64_t>(1 + random.uniform(20));
    const Mesh mesh = random_mesh(random, nodes, static_cast<int64_t>(random.uniform(30)));
    const auto graph = nodal_graph(mesh);
    ASSERT_TRUE(graph);
    const auto expected = model(mesh);
    ASSERT_EQ(graph->nodes(), nodes);
    for (Node node = 0; node < nodes; ++node) {
      const auto found = graph->of(node);
      const auto& wanted = expected[static_cast<size_t>(node)];
      ASSERT_EQ(found.size(), wanted.size());
      ASSERT_EQ(std::set<Node>(found.begin(), found.end()), wanted);
    }
  }
}

TEST(NodalGraph, ALongElementIsRefused) {
  std::vector<Node> nodes(kMaxElementNodes + 1);
  std::iota(nodes.begin(), nodes.end(), 0);
  Mesh longest(std::ssize(nodes));
  longest.add_element(std::span(nodes).first(kMaxElementNodes));
  EXPECT_TRUE(nodal_graph(longest));
  Mesh longer(std::ssize(nodes));
  longer.add_element(std::vector<Node>{0, 1});
  longer.add_element(nodes);
  const auto graph = nodal_graph(longer);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message(),
            "element 1 has 1025 nodes; the neighbours of nodes can be found for elements of up to "
            "1024");
}

}  // namespace
}  // namespace tessera::mesh
