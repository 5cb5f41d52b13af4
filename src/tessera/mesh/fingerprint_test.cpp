#include "tessera/mesh/fingerprint.hpp"

#include <gtest/gtest.h>

#include "tessera/mesh/grid_mesh.hpp"

namespace tessera::mesh {
namespace {

TEST(Fingerprint, StaysWhatItIs) {
  // Saved plans hold it: another value makes them useless.
  EXPECT_EQ(fingerprint({.parts = 2, .part_of = {0, 0, 1, 0, 1, 0, 1, 0}}), 85320568320712275U);
  EXPECT_EQ(fingerprint(grid_blocks({.x = 60, .y = 60, .z = 60}, {.x = 3, .y = 4})),
            6007711776670987957U);
}

TEST(Fingerprint, TellsEveryDifference) {
  const Partition partition = grid_blocks({.x = 60, .y = 60, .z = 60}, {.x = 2, .y = 2, .z = 2});
  const uint64_t print = fingerprint(partition);
  for (const size_t place :
       {size_t{0}, size_t{65535}, size_t{65536}, partition.part_of.size() - 1}) {
    Partition changed = partition;
    changed.part_of[place] ^= 1;
    EXPECT_NE(fingerprint(changed), print) << place;
  }
  Partition more_parts = partition;
  ++more_parts.parts;
  EXPECT_NE(fingerprint(more_parts), print);
  Partition fewer_nodes = partition;
  fewer_nodes.part_of.pop_back();
  EXPECT_NE(fingerprint(fewer_nodes), print);
  EXPECT_EQ(fingerprint(partition), print);
}

}  // namespace
}  // namespace tessera::mesh
