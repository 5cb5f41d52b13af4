#include "tessera/mesh/metis_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/grid_mesh.hpp"

namespace tessera::mesh {
namespace {

std::vector<int64_t> sizes_of(const Partition& partition) {
  std::vector<int64_t> sizes(static_cast<size_t>(partition.parts), 0);
  for (const int32_t part : partition.part_of) ++sizes.at(static_cast<size_t>(part));
  return sizes;
}

TEST(MetisPartition, CutsABoxIntoEvenCompactParts) {
  const Mesh mesh = grid_mesh({.x = 20, .y = 20, .z = 20});
  const auto partition = partition_nodes(mesh, 8, 1);
  ASSERT_TRUE(partition);
  const auto sizes = sizes_of(*partition);
  EXPECT_LE(std::ranges::max(sizes), 1.1 * 1000);
  EXPECT_GE(std::ranges::min(sizes), 0.8 * 1000);
  // Of eight cubes of 1000 nodes 27 % are shared; scattered nodes would nearly all be.
  EXPECT_LT(classify(mesh, *partition).shared_items(), 8000 * 4 / 10);
}

TEST(MetisPartition, TheSeedDecides) {
  const Mesh mesh = grid_mesh({.x = 12, .y = 12, .z = 12});
  const auto first = partition_nodes(mesh, 6, 1);
  const auto again = partition_nodes(mesh, 6, 1);
  const auto other = partition_nodes(mesh, 6, 2);
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->part_of, again->part_of);
  EXPECT_NE(first->part_of, other->part_of);
}

TEST(MetisPartition, OnePartTakesAll) {
  const auto partition = partition_nodes(grid_mesh({.x = 3, .y = 3, .z = 3}), 1, 1);
  ASSERT_TRUE(partition);
  EXPECT_EQ(sizes_of(*partition), std::vector<int64_t>{27});
}

TEST(MetisPartition, NoPartIsEmptyWhenThereAreNearlyAsManyAsNodes) {
  const Mesh box = grid_mesh({.x = 4, .y = 4, .z = 4});
  for (int parts = 2; parts <= 64; ++parts) {
    const auto partition = partition_nodes(box, parts, 1);
    ASSERT_TRUE(partition) << partition.error().message();
    EXPECT_GT(std::ranges::min(sizes_of(*partition)), 0) << parts << " parts";
  }
}

TEST(MetisPartition, NodesWithoutNeighboursAreSpreadToo) {
  const auto partition = partition_nodes(Mesh(10), 4, 1);
  ASSERT_TRUE(partition);
  EXPECT_GT(std::ranges::min(sizes_of(*partition)), 0);
}

TEST(MetisPartition, RefusesMorePartsThanNodesAndNone) {
  const Mesh mesh = grid_mesh({.x = 2, .y = 2, .z = 2});
  const auto many = partition_nodes(mesh, 9, 1);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message(), "a mesh of 8 nodes cannot have 9 parts");
  EXPECT_EQ(partition_nodes(mesh, 0, 1).error().code, base::Code::kInvalid);
}

}  // namespace
}  // namespace tessera::mesh
