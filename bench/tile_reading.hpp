// Reading the tiles of paper 0's wall by MPI-IO, as several benches measure it.
//
// Thread safety: as MpiPool.
#pragma once

#include "bench/case.hpp"
#include "bench/mpiio_pool.hpp"
#include "tessera/base/result.hpp"
#include "tessera/object/tile_wall.hpp"

namespace tessera::bench {

inline constexpr const char* kOpenMpi = "openmpi";

// Ours in Open MPI.
[[nodiscard]] JobKind tessera_at(int ranks);

// side x side screens of the paper's size, a rank each.
[[nodiscard]] object::Wall paper_wall(int side);

// Each rank reads its tile of the plain file.
[[nodiscard]] Operation tile_read(Access access, Timed timed);

// The readers write the object file of FileKind::kReplicated, overlaps and all, and then it is laid
// out for them as `tessera remap` does it: each of them finds its tile in one place. What
// `objects`, which is of that kind, reads is checked before and after.
[[nodiscard]] base::Result<void> put_tiles_in_one_place(MpiPool& pool, int side,
                                                        const Operation& objects);

// The same of the file of the other build's job, by its own `tessera remap`, and of the file of our
// second job, which runs beside it (A/A), so that all read the same layout. Does nothing where a
// case has no comparison; takes it away, and says why, where the other build cannot do it.
[[nodiscard]] base::Result<void> put_compared_tiles_in_one_place(MpiPool& pool, int side,
                                                                 const Operation& objects,
                                                                 Case& measured);

}  // namespace tessera::bench
