#include "tessera/mesh/classified_file.hpp"

#include <gtest/gtest.h>

#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/mesh_test_support.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mesh {
namespace {

using Holders = std::vector<std::vector<object::Process>>;

Holders holders_of(const owner::Sharing& sharing) {
  Holders all;
  for (const owner::Stretch& stretch : sharing.stretches()) {
    const auto holders = sharing.holders(stretch.holders);
    all.resize(static_cast<size_t>(stretch.end), {holders.begin(), holders.end()});
  }
  return all;
}

// Elements of every dimension, in any order, between any nodes.
TEST(ClassifiedFile, IsAsTheLoadedMeshIs) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 300; ++round) {
    const Sample sample = random_sample(random, 2 + static_cast<int64_t>(random.uniform(12)));
    Partition partition{.parts = 2, .part_of = {0, 1}};
    while (partition.part_of.size() < sample.tags.size()) {
      partition.part_of.push_back(static_cast<int32_t>(random.uniform(2)));
    }
    TestFile file("m.msh", SampleWriter({}).write(sample));
    const auto loaded = load_mesh(*file);
    ASSERT_TRUE(loaded) << loaded.error().message();
    const auto classified = classify_file(*file, [&](int64_t nodes) -> base::Result<Partition> {
      EXPECT_EQ(nodes, loaded->mesh.nodes());
      return partition;
    });
    ASSERT_TRUE(classified) << classified.error().message();
    EXPECT_EQ(classified->facts.elements, loaded->facts.elements);
    EXPECT_EQ(classified->partition.part_of, partition.part_of);
    ASSERT_EQ(holders_of(classified->sharing), holders_of(classify(loaded->mesh, partition)));
  }
}

// A line from node 1 to node 4 beside the triangle 1 2 3: nobody but its part holds node 4.
TEST(ClassifiedFile, LinesBesideTrianglesMakeNoNeighbours) {
  const Sample sample{{1, 2, 3, 4},
                      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {9, 0, 0}},
                      {{1, {1, 4}}, {2, {1, 2, 3}}, {1, {1, 4}}}};
  TestFile file("m.msh", SampleWriter({}).write(sample));
  const auto classified = classify_file(*file, [](int64_t /*nodes*/) -> base::Result<Partition> {
    return Partition{.parts = 2, .part_of = {0, 0, 0, 1}};
  });
  ASSERT_TRUE(classified);
  EXPECT_EQ(classified->sharing.shared_items(), 0);
  EXPECT_EQ(classified->facts.elements, 3);
}

TEST(ClassifiedFile, APartitionThatIsNotFoundIsAFailure) {
  const Sample sample{{1, 2}, {{0, 0, 0}, {1, 0, 0}}, {{1, {1, 2}}}};
  TestFile file("m.msh", SampleWriter({}).write(sample));
  const auto classified = classify_file(*file, [](int64_t nodes) -> base::Result<Partition> {
    return base::fail(base::Code::kNotFound, "none for " + std::to_string(nodes));
  });
  ASSERT_FALSE(classified);
  EXPECT_EQ(classified.error().message(), "none for 2");
}

}  // namespace
}  // namespace tessera::mesh
