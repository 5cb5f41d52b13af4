// Cases of the copy engine: gather and scatter against MPI_Pack and MPI_Unpack of the same layout.
//
// Runs of 8 bytes to 64 KiB, each followed by a gap as long; 256 KiB in all, which stays in the
// cache, and 64 MiB, which does not. Peers are Open MPI and MPICH, each in a process of its own and
// in the spelling of the datatype that suits it best (pack_peer.hpp). The ceiling is memcpy of as
// many bytes. Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> copy_cases();

}  // namespace tessera::bench
