// Object files of unchanged MPI programs, against plain files of the stock libraries.
//
// Reading: the tiles of a display wall (paper 0) from an object file that is laid out for them,
// against the best stock mode on a plain file of the same bytes, and against as many bytes read in
// one piece. Writing: a FLASH checkpoint and a wall of tiles, each made durable by MPI_File_sync,
// against the best stock mode and against our own linear files. Sharing: forwarding writes to where
// the bytes are against moving the bytes to their writer.
// Thread safety: as Bench.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> object_file_cases();

}  // namespace tessera::bench
