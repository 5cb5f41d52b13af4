#include "tessera/mesh/renumber.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tessera/mesh/mesh_test_support.hpp"
#include "tessera/mesh/order.hpp"
#include "tessera/port/posix_disk.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mesh {
namespace {

std::string bytes_of_data(const std::string& name) {
  const auto file = port::PosixDisk()
                        .open(std::string(TESSERA_TEST_DATA) + "/mesh/" + name, port::Access::kRead)
                        .value();
  std::string content(static_cast<size_t>(file->size().value()), '\0');
  EXPECT_TRUE(file->read_at(0, std::as_writable_bytes(std::span(content))).status);
  return content;
}

Record visited(const std::string& name, const std::string& content) {
  TestFile file(name, content);
  Record record;
  const auto facts = visit_mesh(*file, record);
  EXPECT_TRUE(facts) << facts.error().message();
  return record;
}

std::string renumbered(const std::string& name, const std::string& content,
                       std::span<const Node> new_number) {
  TestFile from(name, content);
  TestFile to(name, "");
  const auto done = write_renumbered(*from, *to, new_number);
  EXPECT_TRUE(done) << done.error().message();
  return to.content();
}

std::vector<Node> inverse_of(std::span<const Node> numbers) {
  std::vector<Node> inverse(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    inverse[static_cast<size_t>(numbers[i])] = static_cast<Node>(i);
  }
  return inverse;
}

// What visiting should tell after renumbering.
Record moved(const Record& before, std::span<const Node> new_number) {
  Record after = before;
  for (size_t i = 0; i < before.positions.size(); ++i) {
    after.positions[static_cast<size_t>(new_number[i])] = before.positions[i];
  }
  for (auto& element : after.elements) {
    for (Node& node : element) node = new_number[static_cast<size_t>(node)];
  }
  return after;
}

// Edges of a graph, without order.
void normalize(Record& record) {
  for (auto& edge : record.elements) std::sort(edge.begin(), edge.end());
  std::sort(record.elements.begin(), record.elements.end());
}

TEST(Renumber, NodesMoveAndComeBack) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 200; ++round) {
    const Sample sample = random_sample(random, 1 + static_cast<int64_t>(random.uniform(12)));
    const auto numbers = random_permutation(random, std::ssize(sample.tags));
    for (const Variant& variant : all_variants()) {
      const std::string content = SampleWriter(variant).write(sample);
      const std::string there = renumbered("m.msh", content, numbers);
      EXPECT_EQ(visited("m.msh", there), moved(visited("m.msh", content), numbers));
      const std::string back = renumbered("m.msh", there, inverse_of(numbers));
      EXPECT_EQ(visited("m.msh", back), visited("m.msh", content));
      if (std::is_sorted(sample.tags.begin(), sample.tags.end()) &&
          sample.tags.back() == std::ssize(sample.tags)) {
        EXPECT_EQ(back, content);
      }
    }
  }
}

TEST(Renumber, WhatNamesNoNodeStaysByteForByte) {
  port::SeededRandom random(port::test_seed());
  for (const char* name :
       {"device22.msh", "device22_binary.msh", "device41.msh", "device41_binary.msh",
        "figure3.graph", "weighted.graph", "two_hexahedra.mesh", "weighted.mesh"}) {
    const std::string content = bytes_of_data(name);
    const auto numbers = random_permutation(random, visited(name, content).count_of_nodes);
    const std::string there = renumbered(name, content, numbers);
    Record expected = moved(visited(name, content), numbers);
    Record found = visited(name, there);
    if (std::string(name).ends_with(".graph")) normalize(expected), normalize(found);
    EXPECT_EQ(found, expected) << name;
    EXPECT_EQ(renumbered(name, there, inverse_of(numbers)), content) << name;
  }
}

TEST(Renumber, FilesLargerThanTheBufferComeBack) {
  port::SeededRandom random(port::test_seed());
  Sample sample;
  for (int64_t i = 0; i < 40'000; ++i) {
    sample.tags.push_back(i + 1);
    sample.positions.push_back({static_cast<double>(random.uniform(1 << 30)) / 7, 0.1, -1e-9});
    sample.elements.push_back({1, {i + 1, static_cast<int64_t>(1 + random.uniform(40'000))}});
  }
  const auto numbers = random_permutation(random, 40'000);
  for (const Variant& variant : all_variants()) {
    const std::string content = SampleWriter(variant).write(sample);
    const std::string there = renumbered("m.msh", content, numbers);
    EXPECT_TRUE(visited("m.msh", there) == moved(visited("m.msh", content), numbers));
    EXPECT_TRUE(renumbered("m.msh", there, inverse_of(numbers)) == content);
  }
}

TEST(Renumber, LinksAndValuesOfNodesFollow) {
  // Tags 10, 20, 30, 40, 50 become 5, 4, 3, 2, 1.
  const std::string there =
      renumbered("m.msh", bytes_of_data("all_sections22.msh"), std::vector<Node>{4, 3, 2, 1, 0});
  EXPECT_NE(there.find("$Nodes\n5\n2 0 0 0\n5 1 0 0\n4 1 1 0\n3 0 1 0\n1 0.5 0.5 0\n$EndNodes"),
            std::string::npos);
  EXPECT_NE(there.find("0 1\n2\n5 2\n4 3\n$EndPeriodic"), std::string::npos);
  EXPECT_NE(there.find("\"temperature of the plate\"\n1\n0.25\n3\n0\n2\n2\n1 300.5 1e-3\n"
                       "5 299 2e-3\n$EndNodeData"),
            std::string::npos);
  EXPECT_NE(there.find("2 7 \"plate\""), std::string::npos);
  EXPECT_NE(there.find("$ElementData\n1\n\"density\"\n1\n0.25\n3\n0\n1\n1\n3 2.5\n"),
            std::string::npos);

  // Tags 3, 7, 8, 10, 900 become 2, 3, 4, 5, 1.
  const std::string four =
      renumbered("m.msh", bytes_of_data("parametric41.msh"), std::vector<Node>{1, 2, 3, 4, 0});
  EXPECT_NE(four.find("$Nodes\n3 5 1 5\n0 1 1 1\n1\n0 0 0\n1 4 1 2\n5\n2\n1 0 0 0.25\n"),
            std::string::npos);
  EXPECT_NE(four.find("1 4 4\n0\n1\n5 2\n$EndPeriodic"), std::string::npos);
}

// Nobody looks at them, so they pass through as they are.
TEST(Renumber, ValuesThatAreNoNumbersStay) {
  const std::string two =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n"
      "$Elements\n1\n1 1 0 1 2\n$EndElements\n$NodeData\n1\n\"t\"\n1\n1e-400\n3\n0\n3\n2\n";
  EXPECT_EQ(renumbered("m.msh", two + "1 nan -inf 1e999\n2 0 -nan 1e-400\n$EndNodeData\n",
                       std::vector<Node>{1, 0})
                .substr(two.size()),
            "2 nan -inf 1e999\n1 0 -nan 1e-400\n$EndNodeData\n");
  const std::string four =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 2 1 2\n1 1 1 2\n1\n2\n0 0 0 nan\n"
      "1 0 0 1e-400\n$EndNodes\n$Elements\n1 1 1 1\n1 1 1 1\n1 1 2\n$EndElements\n";
  EXPECT_NE(renumbered("m.msh", four, std::vector<Node>{1, 0})
                .find("\n2\n1\n0 0 0 nan\n1 0 0 1e-400\n$EndNodes\n"),
            std::string::npos);
}

TEST(Renumber, LinesOfGraphsMoveWithTheirWeights) {
  const std::string there =
      renumbered("w.graph", bytes_of_data("weighted.graph"), std::vector<Node>{3, 2, 1, 0});
  EXPECT_EQ(there,
            "% Sizes of nodes, two weights of each, and weights of edges.\n4 2 111 2\n6 4 40\n"
            "7 3 30 3 6\n8 2 20 4 5 2 6\n% size, weights, then neighbour and weight\n9 1 10 3 5\n");
}

std::string message_of(const std::string& content, std::span<const Node> numbers) {
  TestFile from("m.msh", content);
  TestFile to("n.msh", "");
  const auto done = write_renumbered(*from, *to, numbers);
  return done ? "no error" : done.error().message();
}

TEST(Renumber, WhatCannotBeRenumberedIsRefused) {
  const std::string content = bytes_of_data("device22.msh");
  std::vector<Node> numbers(45);
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_EQ(message_of(content, numbers), "no error");
  EXPECT_EQ(message_of(content, std::span(numbers).first(44)),
            "m.msh: a mesh of 45 nodes, but there are new numbers for 44");
  EXPECT_NE(message_of(content + "$Parametrizations\n1 2\n$EndParametrizations\n", numbers)
                .find("($Parametrizations): a section that may name nodes"),
            std::string::npos);
  EXPECT_NE(message_of(content + "$NodeData\n0\n0\n3\n0\n1\n1\n1\n$EndNodeData\n", numbers)
                .find("($NodeData): '$EndNodeData' where a value should be"),
            std::string::npos);
  EXPECT_NE(message_of(content + "$Periodic\n1\n0 1 2\n1\n77 1\n$EndPeriodic\n", numbers)
                .find("($Periodic): node 77 is named but is not in $Nodes"),
            std::string::npos);
}

TEST(Renumber, ANodeInNoElementIsNotLost) {
  TestFile from("m.mesh", "2\n2 3\n3 2\n");
  TestFile to("n.mesh", "");
  EXPECT_TRUE(write_renumbered(*from, *to, std::vector<Node>{0, 2, 1}));
  EXPECT_EQ(to.content(), "2\n3 2\n2 3\n");
  const auto lost = write_renumbered(*from, *to, std::vector<Node>{2, 1, 0});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().message(),
            "m.mesh: node 1 is in no element: as the last it would be lost");
}

// Whichever node is in no element, a METIS mesh can be brought into the order rcm.
TEST(Renumber, RcmPutsNodesInNoElementFirst) {
  for (int alone = 1; alone <= 3; ++alone) {
    std::vector<std::string> names;
    for (int i = 1; i <= 4; ++i) {
      if (i != alone) names.push_back(std::to_string(i) + " ");
    }
    TestFile from("m.mesh", "2\n" + names[0] + names[1] + "\n" + names[1] + names[2] + "\n");
    TestFile to("n.mesh", "");
    const Mesh mesh = load_mesh(*from).value().mesh;
    const auto numbers = order_nodes(mesh, Order::kRcm, nullptr);
    ASSERT_TRUE(numbers);
    EXPECT_EQ((*numbers)[static_cast<size_t>(alone - 1)], 0);
    const auto done = write_renumbered(*from, *to, *numbers);
    EXPECT_TRUE(done) << done.error().message();
  }
}

TEST(Renumber, AFullDiskIsTold) {
  const std::string content = bytes_of_data("device22.msh");
  std::vector<Node> numbers(45);
  std::iota(numbers.begin(), numbers.end(), 0);
  TestFile from("m.msh", content);
  TestFile to("n.msh", "");
  to.disk().set_capacity(100);
  const auto done = write_renumbered(*from, *to, numbers);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().errno_value, ENOSPC);
}

}  // namespace
}  // namespace tessera::mesh
