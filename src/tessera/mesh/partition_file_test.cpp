#include "tessera/mesh/partition_file.hpp"

#include <gtest/gtest.h>

#include "tessera/mesh/mesh_test_support.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mesh {
namespace {

std::string message_of(const std::string& content, int64_t nodes) {
  TestFile file("p", content);
  const auto partition = read_partition(*file, nodes);
  return partition ? "no error" : partition.error().message();
}

TEST(PartitionFile, PartsAreReadLineByLine) {
  TestFile file("p", "0\n2\n 1 \r\n2");
  const auto partition = read_partition(*file, 4);
  ASSERT_TRUE(partition) << partition.error().message();
  EXPECT_EQ(partition->parts, 3);
  EXPECT_EQ(partition->part_of, (std::vector<int32_t>{0, 2, 1, 2}));
}

TEST(PartitionFile, WhatIsWrittenIsRead) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 100; ++round) {
    Partition partition;
    partition.parts = 1 + static_cast<int>(random.uniform(8));
    for (int part = 0; part < partition.parts; ++part) partition.part_of.push_back(part);
    for (uint64_t more = random.uniform(40); more > 0; --more) {
      partition.part_of.push_back(
          static_cast<int32_t>(random.uniform(static_cast<uint64_t>(partition.parts))));
    }
    TestFile file("p", "longer than what is written, so that its rest must be cut off\n" +
                           std::string(200, '\n') + "7\n");
    ASSERT_TRUE(write_partition(*file, partition));
    const auto again = read_partition(*file, std::ssize(partition.part_of));
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->parts, partition.parts);
    EXPECT_EQ(again->part_of, partition.part_of);
  }
}

TEST(PartitionFile, WhatIsWrongIsSaid) {
  EXPECT_EQ(message_of("0\n1\n0\n", 2),
            "p: a partition of 3 nodes, but the mesh has 2: it is of another mesh");
  EXPECT_EQ(message_of("0\n1\n", 3),
            "p: a partition of 2 nodes, but the mesh has 3: it is of another mesh");
  EXPECT_EQ(message_of("", 3),
            "p: a partition of 0 nodes, but the mesh has 3: it is of another mesh");
  EXPECT_EQ(message_of("0\n-1\n0\n", 3), "p, line 2: part -1; parts begin at 0");
  EXPECT_EQ(message_of("0\n3\n3\n1\n", 4), "p: no node is in part 2, though the largest is 3");
  EXPECT_EQ(message_of("1\n1\n", 2), "p: no node is in part 0, though the largest is 1");
  EXPECT_EQ(message_of("0\n0 1\n0\n", 3), "p, line 2: '1' where the line should end");
  EXPECT_EQ(message_of("0\nx\n0\n", 3), "p, line 2: 'x' where the part of a node should be");
  EXPECT_EQ(message_of("0\n\n0\n", 3),
            "p, line 2: the line ends where the part of a node should be");
  EXPECT_EQ(message_of("0\n2147483647\n", 2),
            "p, line 2: part 2147483647 of a mesh of 2 nodes, which cannot have so many parts");
}

}  // namespace
}  // namespace tessera::mesh
