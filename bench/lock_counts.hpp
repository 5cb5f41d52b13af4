// Lock counts: what the benchmarks of list locking lock, and how many of their processes can work
// at once, computed from their datatypes.
//
// The benchmarks are those of paper 1 (list locking for MPI-IO atomicity), whose Tables 1 to 3
// print the same numbers; most of those do not follow from its own text, so ours stand beside them
// with the derivation. All locks are exclusive, as they are there. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/bench.hpp"
#include "tessera/base/result.hpp"
#include "tessera/pattern/byte_set.hpp"

namespace tessera::bench {

// What an access locks: the file, the bytes from its first to its last one, or exactly its bytes.
enum class Locking { kFile, kRange, kList };
[[nodiscard]] const char* name_of(Locking locking);

// The bytes that each process accesses at once, by rank.
using Accesses = std::vector<pattern::ByteSet>;

// A cube of 100^3 ints in blocks, `side` processes in each dimension (MPI_Type_create_darray).
[[nodiscard]] base::Result<Accesses> block3d_accesses(int64_t side);
// A FLASH checkpoint: 24 variables, of each 80 blocks a process of 8^3 doubles; block i of all
// processes comes before block i + 1 of any (MPI_Type_vector).
[[nodiscard]] base::Result<Accesses> flash_accesses(int64_t processes);
// A frame on 3 x 2 screens of 1024 x 768 pixels of 3 bytes that share 270 columns and 128 lines
// (MPI_Type_create_subarray).
[[nodiscard]] base::Result<Accesses> tile_reader_accesses();

struct LockCounts {
  int64_t locks_min = 0;  // of any process
  int64_t locks_max = 0;
  int64_t at_once = 0;  // processes that can hold their locks at the same time, at most
};
// Requires 1 to 64 processes. Cost: an overlap test for each pair, and what independent_most()
// costs.
[[nodiscard]] base::Result<LockCounts> count_locks(const Accesses& accesses, Locking locking);

// The largest number of vertices of a graph of which no two are neighbours; bit j of neighbours[i]
// says whether i and j are. Requires at most 64 vertices, none its own neighbour, and symmetry.
// Exponential in the worst case; a sum of cliques, which interleaved accesses are, is quick.
[[nodiscard]] int64_t independent_most(const std::vector<uint64_t>& neighbours);

// Every entry of the paper's three tables as a case: ours, the paper's, and the derivation.
[[nodiscard]] std::vector<CaseMaker> lock_count_cases();

}  // namespace tessera::bench
