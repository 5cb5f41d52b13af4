#include "tessera/mesh/grid_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tessera/mesh/nodal_graph.hpp"

namespace tessera::mesh {
namespace {

double volume(const Mesh& mesh, std::span<const Node> nodes) {
  std::array<Position, 3> edges{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t axis = 0; axis < 3; ++axis) {
      edges[i][axis] = mesh.positions[static_cast<size_t>(nodes[i + 1])][axis] -
                       mesh.positions[static_cast<size_t>(nodes[0])][axis];
    }
  }
  const auto& [a, b, c] = edges;
  return std::abs(a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
                  a[2] * (b[0] * c[1] - b[1] * c[0])) /
         6;
}

TEST(GridMesh, FillsTheBoxAndFitsAtTheFaces) {
  const GridSize size{.x = 4, .y = 3, .z = 5};
  const Mesh mesh = grid_mesh(size);
  EXPECT_EQ(mesh.nodes(), 60);
  EXPECT_EQ(mesh.elements(), size.tetrahedra());
  double filled = 0;
  std::map<std::array<Node, 3>, int> triangles;
  for (int64_t i = 0; i < mesh.elements(); ++i) {
    filled += volume(mesh, mesh.element(i));
    std::array<Node, 4> nodes{};
    std::ranges::copy(mesh.element(i), nodes.begin());
    std::ranges::sort(nodes);
    ++triangles[{nodes[0], nodes[1], nodes[2]}];
    ++triangles[{nodes[0], nodes[1], nodes[3]}];
    ++triangles[{nodes[0], nodes[2], nodes[3]}];
    ++triangles[{nodes[1], nodes[2], nodes[3]}];
  }
  EXPECT_NEAR(filled, 3 * 2 * 4, 1e-9);
  int64_t outside = 0;
  for (const auto& [triangle, count] : triangles) {
    EXPECT_LE(count, 2);
    if (count == 1) ++outside;
  }
  EXPECT_EQ(outside, 2 * 2 * (3 * 2 + 3 * 4 + 2 * 4));
}

TEST(GridMesh, ANodeInsideHasFourteenNeighbours) {
  const auto graph = nodal_graph(grid_mesh({.x = 3, .y = 3, .z = 3}));
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->of(13).size(), 14U);
}

TEST(GridMesh, ASheetHasNoTetrahedra) {
  const Mesh mesh = grid_mesh({.x = 4, .y = 4, .z = 1});
  EXPECT_EQ(mesh.nodes(), 16);
  EXPECT_EQ(mesh.elements(), 0);
}

TEST(GridMesh, BlocksAreEven) {
  const auto partition = grid_blocks({.x = 7, .y = 4, .z = 4}, {.x = 2, .y = 2, .z = 4});
  EXPECT_EQ(partition.parts, 16);
  for (int32_t part = 0; part < 16; ++part) {
    const auto nodes = std::ranges::count(partition.part_of, part);
    EXPECT_TRUE(nodes == 6 || nodes == 8) << nodes;
  }
}

}  // namespace
}  // namespace tessera::mesh
