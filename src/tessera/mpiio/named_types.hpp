// Named types: the predefined datatypes of MPI and the basic elements they are made of.
//
// Sizes in memory are those of the running MPI. Sizes in external32 are those the standard lists;
// what the MPIs answer to MPI_Pack_external_size is not to be relied on (Open MPI counts 8 bytes
// for an MPI_LONG and packs 4). Thread safety: all functions, if MPI was initialised for several
// threads.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/mpiio/elements.hpp"

namespace tessera::mpiio {

struct NamedMember {
  Basic basic;
  int64_t displacement = 0;  // in memory
};

// One member, or the two of a pair such as MPI_DOUBLE_INT. Requires a predefined type; fails with
// kFailed if MPI gives it another size than its members have.
[[nodiscard]] base::Result<std::vector<NamedMember>> named_members(MPI_Datatype type);

}  // namespace tessera::mpiio
