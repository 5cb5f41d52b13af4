#include "tessera/mesh/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/grid_mesh.hpp"
#include "tessera/mesh/hilbert.hpp"
#include "tessera/mesh/metis_partition.hpp"
#include "tessera/mesh/part_order.hpp"
#include "tessera/mesh/test_random_mesh.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mesh {
namespace {

constexpr Order kAll[] = {Order::kFile, Order::kRcm,     Order::kX, Order::kY,
                          Order::kZ,    Order::kHilbert, Order::kIo};

bool is_permutation(std::span<const Node> numbers) {
  std::vector<Node> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<Node>(i)) return false;
  }
  return true;
}

// The largest difference of the numbers of two neighbours.
int64_t bandwidth(const Mesh& mesh) {
  int64_t widest = 0;
  for (int64_t i = 0; i < mesh.elements(); ++i) {
    const auto [least, most] = std::ranges::minmax(mesh.element(i));
    widest = std::max<int64_t>(widest, most - least);
  }
  return widest;
}

std::vector<Node> shuffled(port::Random& random, int64_t nodes) {
  std::vector<Node> numbers;
  for (Node node = 0; node < nodes; ++node) numbers.push_back(node);
  for (size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[random.uniform(i)]);
  return numbers;
}

int64_t changes_of_part(const Partition& partition) {
  int64_t changes = 0;
  for (size_t i = 1; i < partition.part_of.size(); ++i) {
    if (partition.part_of[i] != partition.part_of[i - 1]) ++changes;
  }
  return changes;
}

TEST(Order, EveryOrderIsAPermutation) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 100; ++round) {
    const auto nodes = static_cast<int64_t>(1 + random.uniform(40));
    Mesh mesh = random_mesh(random, nodes, static_cast<int64_t>(random.uniform(60)));
    for (int64_t i = 0; i < nodes; ++i) {
      mesh.positions.push_back({static_cast<double>(random.uniform(4)), 0, 1e300});
    }
    const auto partition = random_partition(random, nodes, 3);
    for (const Order order : kAll) {
      const auto numbers = order_nodes(mesh, order, &partition);
      ASSERT_TRUE(numbers);
      ASSERT_EQ(std::ssize(*numbers), nodes);
      ASSERT_TRUE(is_permutation(*numbers)) << order_name(order);
    }
  }
}

TEST(Order, RcmFindsTheNarrowBandOfAShuffledGrid) {
  port::SeededRandom random(port::test_seed());
  const Mesh mesh = grid_mesh({.x = 5, .y = 6, .z = 40});
  const Mesh mixed = renumbered(mesh, shuffled(random, mesh.nodes()));
  const auto numbers = order_nodes(mixed, Order::kRcm, nullptr);
  ASSERT_TRUE(numbers);
  // A layer of the box has 30 nodes, and a level of the search reaches over two of them at most.
  EXPECT_GT(bandwidth(mixed), 600);
  EXPECT_LE(bandwidth(renumbered(mixed, *numbers)), 2 * 30 + 6);
}

TEST(Order, RcmKeepsComponentsTogether) {
  Mesh mesh(8);
  const Node chains[][2] = {{0, 2}, {2, 4}, {4, 6}, {1, 3}, {3, 5}, {5, 7}};
  for (const auto& edge : chains) mesh.add_element(edge);
  const auto numbers = order_nodes(mesh, Order::kRcm, nullptr);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(bandwidth(renumbered(mesh, *numbers)), 1);
}

TEST(Order, AlongAnAxis) {
  Mesh mesh(3);
  mesh.positions = {{2, 0, 5}, {1, 1, 6}, {1, 0, 7}};
  EXPECT_EQ(*order_nodes(mesh, Order::kX, nullptr), (std::vector<Node>{2, 1, 0}));
  EXPECT_EQ(*order_nodes(mesh, Order::kY, nullptr), (std::vector<Node>{0, 2, 1}));
  EXPECT_EQ(*order_nodes(mesh, Order::kZ, nullptr), (std::vector<Node>{0, 1, 2}));
}

TEST(Order, IoGivesEveryPartOneInterval) {
  const Mesh mesh = grid_mesh({.x = 14, .y = 14, .z = 14});
  for (const int parts : {1, 2, 7, 16}) {
    const auto partition = partition_nodes(mesh, parts, 1);
    ASSERT_TRUE(partition);
    const auto numbers = order_nodes(mesh, Order::kIo, &*partition);
    ASSERT_TRUE(numbers);
    EXPECT_EQ(changes_of_part(renumbered(*partition, *numbers)), parts - 1);
  }
}

TEST(Order, PartsThatFollowEachOtherTouch) {
  const GridSize size{.x = 6, .y = 6, .z = 60};
  const auto graph = nodal_graph(grid_mesh(size));
  ASSERT_TRUE(graph);
  auto partition = grid_blocks(size, {.z = 20});
  for (int32_t& part : partition.part_of) part = part * 7 % 20;
  const auto sequence = part_sequence(*graph, partition);
  ASSERT_EQ(sequence.size(), 20U);
  const int32_t step = (sequence[1] - sequence[0] + 20) % 20;
  EXPECT_TRUE(step == 7 || step == 13);
  for (size_t i = 1; i < sequence.size(); ++i) {
    EXPECT_EQ((sequence[i] - sequence[i - 1] + 20) % 20, step);
  }
}

TEST(Order, SaysWhatIsMissing) {
  const Mesh mesh(4);
  const auto no_positions = order_nodes(mesh, Order::kHilbert, nullptr);
  ASSERT_FALSE(no_positions);
  EXPECT_EQ(no_positions.error().message(),
            "the order hilbert needs positions of nodes, and the mesh has none");
  EXPECT_FALSE(order_nodes(mesh, Order::kIo, nullptr));
  const auto unknown = parse_order("zigzag");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(),
            "there is no order 'zigzag' of nodes; there are file, rcm, x, y, z, hilbert, io");
  for (const Order order : kAll) EXPECT_EQ(*parse_order(order_name(order)), order);
}

TEST(Order, RenumberingMovesElementsPositionsAndParts) {
  Mesh mesh(3);
  mesh.add_element(std::array<Node, 3>{0, 1, 2});
  mesh.add_element(std::array<Node, 2>{2, 0});
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  const Node numbers[] = {2, 0, 1};
  const Mesh moved = renumbered(mesh, numbers);
  EXPECT_EQ(std::vector<Node>(moved.corners().begin(), moved.corners().end()),
            (std::vector<Node>{2, 0, 1, 1, 2}));
  EXPECT_EQ(moved.positions, (std::vector<Position>{{1, 0, 0}, {2, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(renumbered(Partition{.parts = 3, .part_of = {0, 1, 2}}, numbers).part_of,
            (std::vector<int32_t>{1, 2, 0}));
}

TEST(Hilbert, FollowingCellsShareAFace) {
  constexpr int kBits = 3;
  constexpr uint32_t kSide = 1U << kBits;
  std::vector<std::array<int, 3>> cells(kSide * kSide * kSide, {-1, -1, -1});
  for (uint32_t x = 0; x < kSide; ++x) {
    for (uint32_t y = 0; y < kSide; ++y) {
      for (uint32_t z = 0; z < kSide; ++z) {
        cells.at(hilbert_place({x, y, z}, kBits)) = {static_cast<int>(x), static_cast<int>(y),
                                                     static_cast<int>(z)};
      }
    }
  }
  for (size_t i = 1; i < cells.size(); ++i) {
    int distance = 0;
    for (size_t axis = 0; axis < 3; ++axis)
      distance += std::abs(cells[i][axis] - cells[i - 1][axis]);
    ASSERT_EQ(distance, 1) << "behind cell " << i - 1;
  }
}

TEST(Hilbert, TakesAnyNumbers) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  const std::vector<Position> positions = {{none, 1, 2}, {endless, -endless, 0}, {1, 2, 3}};
  const HilbertCurve curve(positions);
  for (const Position& position : positions) EXPECT_LT(curve.place(position), uint64_t{1} << 63);
  const std::vector<Position> point = {{4, 4, 4}};
  EXPECT_EQ(HilbertCurve(point).place(point[0]), 0U);
}

}  // namespace
}  // namespace tessera::mesh
