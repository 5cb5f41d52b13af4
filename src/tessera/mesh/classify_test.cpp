#include "tessera/mesh/classify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tessera/mesh/grid_mesh.hpp"
#include "tessera/mesh/test_random_mesh.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mesh {
namespace {

using Lists = std::vector<std::vector<int32_t>>;  // the holders of every node

Lists lists_of(const owner::Sharing& sharing) {
  Lists lists;
  for (const owner::Stretch& stretch : sharing.stretches()) {
    const auto holders = sharing.holders(stretch.holders);
    lists.resize(static_cast<size_t>(stretch.end), {holders.begin(), holders.end()});
  }
  return lists;
}

// Straight from the definition, for small meshes.
Lists model(const Mesh& mesh, const Partition& partition) {
  std::vector<std::set<int32_t>> met(partition.part_of.size());
  for (int64_t i = 0; i < mesh.elements(); ++i) {
    for (const Node a : mesh.element(i)) {
      for (const Node b : mesh.element(i)) {
        met[static_cast<size_t>(a)].insert(partition.part_of[static_cast<size_t>(b)]);
      }
    }
  }
  Lists lists;
  for (size_t i = 0; i < met.size(); ++i) {
    met[i].erase(partition.part_of[i]);
    lists.push_back({partition.part_of[i]});
    lists.back().insert(lists.back().end(), met[i].begin(), met[i].end());
  }
  return lists;
}

// The mesh of the paper's Figure 3, edge by edge, and METIS's distribution of it.
TEST(Classify, GivesTableOneOfThePaper) {
  Mesh mesh(8);
  const Node edges[][2] = {{0, 1}, {0, 3}, {1, 4}, {1, 7}, {2, 4}, {2, 5},
                           {2, 6}, {2, 7}, {3, 5}, {3, 7}, {4, 6}, {5, 7}};
  for (const auto& edge : edges) mesh.add_element(edge);
  const Partition partition{.parts = 2, .part_of = {0, 0, 1, 0, 1, 0, 1, 0}};
  const Lists expected = {{0}, {0, 1}, {1, 0}, {0}, {1, 0}, {0, 1}, {1}, {0, 1}};
  EXPECT_EQ(lists_of(classify(mesh, partition)), expected);
}

TEST(Classify, NodesOfOnePartAreLocal) {
  const GridSize size{.x = 4, .y = 3, .z = 5};
  const auto sharing = classify(grid_mesh(size), grid_blocks(size, {}));
  EXPECT_EQ(sharing.items(), 60);
  EXPECT_EQ(sharing.stretches().size(), 1U);
  EXPECT_EQ(sharing.shared_items(), 0);
}

TEST(Classify, SharesTheTwoLayersAtTheBorderOfTwoBlocks) {
  const GridSize size{.x = 10, .y = 4, .z = 4};
  const auto sharing = classify(grid_mesh(size), grid_blocks(size, {.x = 2}));
  EXPECT_EQ(sharing.shared_items(), 2 * 4 * 4);
}

TEST(Classify, NodesOfNoElementAreLocal) {
  const auto lists = lists_of(classify(Mesh(3), {.parts = 2, .part_of = {1, 0, 1}}));
  EXPECT_EQ(lists, (Lists{{1}, {0}, {1}}));
}

TEST(Classify, ANodeMayMeetEveryPart) {
  const int parts = 3000;
  Mesh star(parts);
  Partition partition{.parts = parts, .part_of = {}};
  for (Node node = 0; node < parts; ++node) {
    const Node edge[] = {0, node};
    star.add_element(edge);
    partition.part_of.push_back(node);
  }
  const auto lists = lists_of(classify(star, partition));
  EXPECT_EQ(lists[0].size(), static_cast<size_t>(parts));
  EXPECT_TRUE(std::ranges::is_sorted(lists[0]));
  EXPECT_EQ(lists[7], (std::vector<int32_t>{7, 0}));
}

TEST(Classify, AgreesWithTheDefinitionOnRandomMeshes) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 2000; ++round) {
    const auto nodes = static_cast<int64_t>(1 + random.uniform(24));
    const Mesh mesh = random_mesh(random, nodes, static_cast<int64_t>(random.uniform(40)));
    const auto partition = random_partition(random, nodes, 1 + static_cast<int>(random.uniform(6)));
    ASSERT_EQ(lists_of(classify(mesh, partition)), model(mesh, partition));
  }
}

}  // namespace
}  // namespace tessera::mesh
