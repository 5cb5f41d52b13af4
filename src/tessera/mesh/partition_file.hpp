// Partition files: the part of each node, one a line, as METIS's programs write them.
//
// Thread safety: different files from any threads.
#pragma once

#include <cstdint>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::mesh {

// The partition of a mesh with so many nodes. Its parts are 0 to the largest in the file, and each
// has at least one node. Fails with kInvalid, naming the file and what is wrong (and the line,
// where it is one line): another number of lines than nodes, which is a partition of another mesh;
// a line that is not one number; a negative part; a part that no node has.
[[nodiscard]] base::Result<Partition> read_partition(port::File& file, int64_t nodes);

// Writes the file from its first byte and cuts what is behind. Fails as the file does.
[[nodiscard]] base::Result<void> write_partition(port::File& file, const Partition& partition);

}  // namespace tessera::mesh
