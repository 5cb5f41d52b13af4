#include "tessera/mesh/mesh_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>

#include "tessera/mesh/mesh_test_support.hpp"
#include "tessera/mesh/node_tags.hpp"
#include "tessera/port/posix_disk.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mesh {
namespace {

using base::Result;

std::unique_ptr<port::File> data_file(const std::string& name) {
  return port::PosixDisk()
      .open(std::string(TESSERA_TEST_DATA) + "/mesh/" + name, port::Access::kRead)
      .value();
}

std::string bytes_of_data(const std::string& name) {
  const auto file = data_file(name);
  std::string content(static_cast<size_t>(file->size().value()), '\0');
  EXPECT_TRUE(file->read_at(0, std::as_writable_bytes(std::span(content))).status);
  return content;
}

// What visiting a sample should tell.
Record expected_of(const Sample& sample) {
  std::map<int64_t, Position> by_tag;
  for (size_t i = 0; i < sample.tags.size(); ++i) by_tag[sample.tags[i]] = sample.positions[i];
  Record record;
  std::map<int64_t, Node> numbers;
  for (const auto& [tag, position] : by_tag) {
    numbers[tag] = static_cast<Node>(record.positions.size());
    record.positions.push_back(position);
  }
  record.count_of_nodes = std::ssize(record.positions);
  for (const SampleElement& element : sample.elements) {
    auto& corners = record.elements.emplace_back();
    for (const int64_t tag : element.tags) corners.push_back(numbers[tag]);
  }
  return record;
}

Result<MeshFacts> visit(const std::string& name, const std::string& content, Record& record) {
  TestFile file(name, content);
  return visit_mesh(*file, record);
}

std::string message_of(const std::string& name, const std::string& content) {
  Record record;
  const auto facts = visit(name, content, record);
  return facts ? "no error" : facts.error().message();
}

TEST(MeshFile, RandomMeshesAreReadAsTheyWereWritten) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 300; ++round) {
    const Sample sample = random_sample(random, 1 + static_cast<int64_t>(random.uniform(12)));
    const Record expected = expected_of(sample);
    for (const Variant& variant : all_variants()) {
      Record record;
      const auto facts = visit("m.msh", SampleWriter(variant).write(sample), record);
      ASSERT_TRUE(facts) << facts.error().message();
      EXPECT_EQ(facts->format, variant.version == 2 ? MeshFormat::kGmsh2 : MeshFormat::kGmsh4);
      EXPECT_EQ(facts->binary, variant.binary);
      EXPECT_EQ(facts->nodes, expected.count_of_nodes);
      EXPECT_EQ(facts->elements, std::ssize(expected.elements));
      ASSERT_EQ(record, expected) << "version " << variant.version << ", binary " << variant.binary;
    }
  }
}

TEST(MeshFile, FilesLargerThanTheBufferAreReadWhole) {
  port::SeededRandom random(port::test_seed());
  Sample sample = random_sample(random, 50'000);
  for (size_t i = 0; i + 4 <= sample.tags.size(); ++i) {
    sample.elements.push_back({4,
                               {sample.tags.begin() + static_cast<ptrdiff_t>(i),
                                sample.tags.begin() + static_cast<ptrdiff_t>(i) + 4}});
  }
  const Record expected = expected_of(sample);
  for (const Variant& variant : all_variants()) {
    Record record;
    const auto facts = visit("m.msh", SampleWriter(variant).write(sample), record);
    ASSERT_TRUE(facts) << facts.error().message();
    ASSERT_TRUE(record == expected);
  }
}

TEST(MeshFile, GmshWritesTheSameMeshInFourWays) {
  std::vector<Record> records(4);
  size_t next = 0;
  for (const char* name :
       {"device22.msh", "device22_binary.msh", "device41.msh", "device41_binary.msh"}) {
    const auto file = data_file(name);
    const auto facts = visit_mesh(*file, records[next++]);
    ASSERT_TRUE(facts) << facts.error().message();
    EXPECT_EQ(facts->nodes, 45);
    EXPECT_EQ(facts->elements, 216);
    const Mesh mesh = load_mesh(*file).value().mesh;
    EXPECT_EQ(mesh.nodes(), 45);
    EXPECT_EQ(std::ssize(mesh.positions), 45);
    EXPECT_EQ(mesh.elements(), 94);
    for (int64_t i = 0; i < mesh.elements(); ++i) EXPECT_EQ(mesh.element(i).size(), 4u);
  }
  for (const Record& record : records) {
    EXPECT_EQ(record.elements, records[0].elements);
    // As text Gmsh writes 16 digits, which may lack the last bit.
    for (size_t i = 0; i < record.positions.size() * 3; ++i) {
      EXPECT_NEAR(record.positions[i / 3][i % 3], records[0].positions[i / 3][i % 3], 1e-14);
    }
  }
}

TEST(MeshFile, ParametricNodesAndTagsWithGapsAreUnderstood) {
  Record record;
  const auto file = data_file("parametric41.msh");
  ASSERT_TRUE(visit_mesh(*file, record));
  EXPECT_EQ(record.count_of_nodes, 5);
  // Tags 3, 7, 8, 10, 900.
  EXPECT_EQ(record.positions,
            (std::vector<Position>{{2, 0, 0}, {1, 1, 0}, {2, 1, 0}, {1, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(record.elements, (std::vector<std::vector<Node>>{{3, 0}, {4, 3, 1}, {3, 0, 2}}));
}

TEST(MeshFile, OnlyElementsOfTheHighestDimensionAreLoaded) {
  const auto file = data_file("all_sections22.msh");
  const auto loaded = load_mesh(*file);
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Mesh& mesh = loaded->mesh;
  EXPECT_GT(loaded->facts.elements, 4);
  EXPECT_EQ(mesh.elements(), 4);
  EXPECT_EQ(std::vector<Node>(mesh.element(0).begin(), mesh.element(0).end()),
            (std::vector<Node>{3, 0, 4}));
  EXPECT_EQ(mesh.positions[3], (Position{0, 0, 0}));
}

TEST(MeshFile, MetisMeshesHaveElements) {
  Record record;
  const auto facts = visit_mesh(*data_file("two_hexahedra.mesh"), record);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->format, MeshFormat::kMetisMesh);
  EXPECT_EQ(record.count_of_nodes, 12);
  EXPECT_TRUE(record.positions.empty());
  EXPECT_EQ(record.elements,
            (std::vector<std::vector<Node>>{{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 8, 9, 10, 11}}));
  Record weighted;
  ASSERT_TRUE(visit_mesh(*data_file("weighted.mesh"), weighted));
  EXPECT_EQ(weighted.elements, (std::vector<std::vector<Node>>{{0, 1, 2}, {1, 2, 3}, {3, 2, 4}}));
}

TEST(MeshFile, MetisGraphsHaveEachEdgeOnce) {
  const auto loaded = load_mesh(*data_file("figure3.graph"));
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Mesh& mesh = loaded->mesh;
  EXPECT_EQ(mesh.nodes(), 8);
  std::set<std::pair<Node, Node>> edges;
  for (int64_t i = 0; i < mesh.elements(); ++i) {
    edges.emplace(mesh.element(i)[0], mesh.element(i)[1]);
  }
  EXPECT_EQ(mesh.elements(), 12);
  EXPECT_EQ(edges, (std::set<std::pair<Node, Node>>{{0, 1},
                                                    {0, 3},
                                                    {1, 4},
                                                    {1, 7},
                                                    {2, 4},
                                                    {2, 5},
                                                    {2, 6},
                                                    {2, 7},
                                                    {3, 5},
                                                    {3, 7},
                                                    {4, 6},
                                                    {5, 7}}));
  Record weighted;
  ASSERT_TRUE(visit_mesh(*data_file("weighted.graph"), weighted));
  EXPECT_EQ(weighted.count_of_nodes, 4);
  EXPECT_EQ(weighted.elements, (std::vector<std::vector<Node>>{{0, 1}, {1, 2}}));
}

TEST(MeshFile, FormatsAreKnownByContentFirst) {
  TestFile gmsh("a.graph", bytes_of_data("device41.msh"));
  EXPECT_EQ(detect_format(*gmsh).value(), MeshFormat::kGmsh4);
  EXPECT_NE(message_of("a.txt", "8 12\n").find("a.txt: not a mesh"), std::string::npos);
  EXPECT_NE(message_of("empty.msh", "").find("not a mesh"), std::string::npos);
}

TEST(MeshFile, EveryTruncationIsNoticed) {
  for (const char* name :
       {"device22.msh", "device22_binary.msh", "device41.msh", "device41_binary.msh"}) {
    const std::string content = bytes_of_data(name);
    const size_t whole = content.rfind("$EndElements") + 12;
    for (size_t cut = 0; cut < whole; ++cut) {
      Record record;
      const auto facts = visit("m.msh", content.substr(0, cut), record);
      ASSERT_FALSE(facts) << name << " cut at " << cut;
      ASSERT_NE(facts.error().message().find("m.msh"), std::string::npos);
    }
    EXPECT_EQ(message_of("m.msh", content.substr(0, whole)), "no error");
  }
}

// Whatever a byte becomes, the answer is a mesh or a message.
TEST(MeshFile, DamagedFilesGiveMeshesOrMessages) {
  port::SeededRandom random(port::test_seed());
  for (const char* name : {"device22.msh", "device22_binary.msh", "device41.msh",
                           "device41_binary.msh", "figure3.graph", "two_hexahedra.mesh"}) {
    const std::string content = bytes_of_data(name);
    for (int round = 0; round < 1000; ++round) {
      std::string damaged = content;
      damaged[random.uniform(damaged.size())] = static_cast<char>(random.next());
      Record record;
      const auto facts = visit(name, damaged, record);
      for (const auto& element : record.elements) {
        for (const Node node : element) ASSERT_TRUE(node >= 0 && node < record.count_of_nodes);
      }
      if (facts) continue;
      ASSERT_EQ(facts.error().message().find('\n'), std::string::npos);
      ASSERT_NE(facts.error().message().find(name), std::string::npos);
    }
  }
}

// A file of version 2.2 with one section replaced.
std::string gmsh2_with(const std::string& nodes, const std::string& elements) {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + nodes + "$EndNodes\n$Elements\n" +
         elements + "$EndElements\n";
}

struct Wrong {
  const char* name;
  std::string content;
  std::string message;
};

void expect_messages(const std::vector<Wrong>& cases) {
  for (const Wrong& wrong : cases) EXPECT_EQ(message_of(wrong.name, wrong.content), wrong.message);
}

TEST(MeshFile, WhatIsWrongInVersion2IsSaid) {
  const std::string two = "2\n1 0 0 0\n2 1 0 0\n";
  expect_messages({
      {"a.msh", gmsh2_with(two, "1\n1 1 2 0 1 1 3\n"),
       "a.msh, line 11 ($Elements): node 3 is named but is not in $Nodes"},
      {"a.msh", gmsh2_with(two, "1\n1 1 2 0 1 1 -2\n"),
       "a.msh, line 11 ($Elements): node -2 is named but is not in $Nodes"},
      {"a.msh", gmsh2_with(two, "2\n1 1 2 0 1 1 2\n"),
       "a.msh, line 12 ($Elements): '$EndElements' where the tag of an element should be"},
      {"a.msh", gmsh2_with(two, "1\n1 1 0 1 2\n2 1 0 1 2\n"),
       "a.msh, line 12 ($Elements): '2' where $EndElements should follow what the section "
       "announces"},
      {"a.msh", gmsh2_with(two, "1\n1 99 0 1 2\n"),
       "a.msh, line 11 ($Elements): elements of type 99 are not known; types 1 to 31 are"},
      {"a.msh", gmsh2_with("2147483648\n1 0 0 0\n", "0\n"),
       "a.msh, line 5 ($Nodes): 2147483648 nodes are announced; 2147483647 is the most"},
      {"a.msh", gmsh2_with("-1\n", "0\n"),
       "a.msh, line 5 ($Nodes): -1 where the number of nodes should be"},
      {"a.msh", gmsh2_with("1\n0 0 0 0\n", "0\n"),
       "a.msh, line 6 ($Nodes): the tag 0 of a node is not positive"},
      {"a.msh", gmsh2_with("2\n5 0 0 0\n5 1 0 0\n", "0\n"),
       "a.msh, line 5 ($Nodes): two nodes have the tag 5"},
      {"a.msh", gmsh2_with("1\n1 0 zero 0\n", "0\n"),
       "a.msh, line 6 ($Nodes): 'zero' where a coordinate should be"},
      {"a.msh", gmsh2_with("1\n1 0 0\n", "0\n"),
       "a.msh, line 7 ($Nodes): '$EndNodes' where a coordinate should be"},
      {"a.msh", gmsh2_with("0\n", "0\n"), "a.msh, line 5 ($Nodes): there are no nodes"},
      {"a.msh", "$MeshFormat\n3 0 8\n",
       "a.msh, line 2 ($MeshFormat): version '3' is not read; "
       "2.2 and 4.1 are"},
      {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Elements\n",
       "a.msh, line 5 ($Elements): elements stand before the $Nodes that they name"},
      {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n",
       "a.msh, line 4: the file ends without "
       "$Nodes"},
      {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Strange\nabc\n",
       "a.msh, line 6 ($Strange): the file ends where $EndStrange should be: it is truncated"},
  });
}

TEST(MeshFile, WhatIsWrongInVersion4IsSaid) {
  const std::string begin = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n";
  expect_messages({
      {"a.msh", begin + "1 3000000000 1 3000000000\n",
       "a.msh, line 5 ($Nodes): 3000000000 nodes are announced; 2147483647 is the most"},
      {"a.msh", begin + "1 2 1 2\n0 1 0 3\n",
       "a.msh, line 6 ($Nodes): the blocks have more nodes than the 2 that are announced"},
      {"a.msh", begin + "1 2 1 2\n0 1 0 1\n1\n0 0 0\n$EndNodes\n",
       "a.msh, line 8 ($Nodes): the blocks have 1 nodes, where 2 are announced"},
      {"a.msh", begin + "1 1 1 1\n5 1 0 1\n",
       "a.msh, line 6 ($Nodes): the dimension of an entity is not 0 to 3"},
      {"a.msh",
       begin + "1 1 1 1\n0 1 0 1\n1\n0 0 0\n$EndNodes\n$Elements\n1 1 1 1\n1 1 1 1\n1 1 7\n",
       "a.msh, line 13 ($Elements): node 7 is named but is not in $Nodes"},
  });
}

TEST(MeshFile, BinaryFilesAreWrongAtABytes) {
  const Sample sample{{1, 2}, {{0, 0, 0}, {1, 0, 0}}, {{1, {1, 3}}}};
  const std::string content = SampleWriter({4, true, false, 8}).write(sample);
  const size_t corner = content.rfind("\n$EndElements") - 8;
  EXPECT_EQ(message_of("b.msh", content), "b.msh, byte " + std::to_string(corner) +
                                              " ($Elements): node 3 is named but is not in $Nodes");
  EXPECT_EQ(
      message_of("b.msh", content.substr(0, corner - 1)),
      "b.msh, byte " + std::to_string(corner - 8) +
          " ($Elements): the file ends where a node of an element should be: it is truncated");
}

TEST(MeshFile, WhatIsWrongInMetisFilesIsSaid) {
  std::string long_element;
  for (int64_t i = 0; i <= kMaxElementNodes; ++i) long_element += "1 ";
  expect_messages({
      {"a.mesh", "2\n1 2 3\n",
       "a.mesh, line 3: the file ends after 1 of the 2 elements that its "
       "first line announces"},
      {"a.mesh", "1\n1 2 3\n2 3 4\n",
       "a.mesh, line 3: the file goes on behind the last line that its first line announces"},
      {"a.mesh", "1\n0 1 2\n", "a.mesh, line 2: node 0; nodes begin at 1"},
      {"a.mesh", "1\n1 2147483648\n", "a.mesh, line 2: node 2147483648; 2147483647 is the most"},
      {"a.mesh", "1\n1 2 2147483647\n",
       "a.mesh, line 2: node 2147483647 is named, but all "
       "elements name only 3 nodes"},
      {"a.mesh", "3\n1 2 3\n2 3 99\n1 2 99\n",
       "a.mesh, line 3: node 99 is named, but all elements name only 9 nodes"},
      {"a.mesh", "2\n1 2 3\n\n", "a.mesh, line 3: an element without nodes"},
      {"a.mesh", "MeshVersionFormatted 2\n",
       "a.mesh, line 1: 'MeshVersionFormatted' where the number of elements should be"},
      {"a.graph", "2147483648 1\n",
       "a.graph, line 1: 2147483648 nodes are announced; 2147483647 is the most"},
      {"a.graph", "2000000000 1\n2\n1\n",
       "a.graph, line 1: 2000000000 nodes are announced, in a file of 17 bytes"},
      {"a.graph", "3 2\n2\n1 3\n",
       "a.graph, line 4: the file ends after 2 of the 3 nodes that its "
       "first line announces"},
      {"a.graph", "2 1\n2\n4\n", "a.graph, line 3: node 4; 2 is the most"},
      {"a.graph", "2 1\n1 2\n1\n", "a.graph, line 2: node 1 is in its own list"},
      {"a.graph", "2 2\n2\n1\n",
       "a.graph, line 4: the lists have 2 entries, where 2 edges are "
       "announced, each in two lists"},
      {"a.graph", "4 2\n2\n3\n4\n1\n",
       "a.graph, line 2: node 1 has node 2 in its list, but node 2 does not have node 1"},
      {"a.graph", "% c\n3 1\n\n% d\n3\n1",
       "a.graph, line 5: node 2 has node 3 in its list, but node 3 does not have node 2"},
      {"a.mesh", "2\n1 2\n" + long_element + "\n",
       "a.mesh, line 3: an element of more than 1024 nodes"},
      {"a.graph", "2 1 001\n2 5\n1\n", "a.graph, line 3: the line ends where a weight should be"},
      {"a.graph", "2 1 110 9223372036854775807\n2\n1\n",
       "a.graph, line 1: 9223372036854775807 weights of a node are announced, in a file of 32 "
       "bytes"},
      {"a.graph", "2 1 012\n", "a.graph, line 1: '012' is not a format of weights (000 to 111)"},
  });
}

TEST(MeshFile, FailuresOfTheDiskAreTold) {
  TestFile file("m.msh", bytes_of_data("device41.msh"));
  for (uint64_t nth = 1; nth <= 2; ++nth) {
    file.disk().fail_operation(nth, EIO);
    Record record;
    const auto facts = visit_mesh(*file, record);
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().errno_value, EIO);
  }
}

TEST(NodeTags, TagsAreFoundInEveryKindOfTable) {
  for (const int64_t gap : {1, 2, 3, 1000, 1'000'000}) {
    NodeTags tags;
    for (int64_t i = 2000; i > 0; --i) tags.add(i * gap);
    ASSERT_FALSE(tags.number().has_value());
    for (int64_t i = 1; i <= 2000; ++i) ASSERT_EQ(tags.find(i * gap), i - 1);
    for (const int64_t absent : {int64_t{-1}, int64_t{0}, gap - 1, 2000 * gap + 1}) {
      if (absent < gap || absent > 2000 * gap) {
        EXPECT_EQ(tags.find(absent), -1) << gap;
      }
    }
    if (gap > 1) {
      EXPECT_EQ(tags.find(gap + 1), -1);
    }
  }
}

// No sum or difference of tags may pass 64 bits.
TEST(NodeTags, TheLargestTagsAreTagsToo) {
  NodeTags consecutive;
  consecutive.add(INT64_MAX);
  ASSERT_FALSE(consecutive.number().has_value());
  EXPECT_EQ(consecutive.find(INT64_MAX), 0);
  for (const int64_t absent : {INT64_MIN, int64_t{-1}, int64_t{1}, INT64_MAX - 1}) {
    EXPECT_EQ(consecutive.find(absent), -1);
  }
  NodeTags apart;
  apart.add(INT64_MAX - 1);
  apart.add(INT64_MAX);
  apart.add(1);
  ASSERT_FALSE(apart.number().has_value());
  EXPECT_EQ(apart.find(1), 0);
  EXPECT_EQ(apart.find(INT64_MAX - 1), 1);
  EXPECT_EQ(apart.find(INT64_MAX), 2);
  EXPECT_EQ(apart.find(INT64_MIN), -1);
}

}  // namespace
}  // namespace tessera::mesh
