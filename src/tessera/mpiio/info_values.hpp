// MPI_Info objects as pairs of texts.
// Thread safety: as the MPI's own.
#pragma once

#include <mpi.h>

#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/result.hpp"

namespace tessera::mpiio {

// All pairs of an info; none for MPI_INFO_NULL.
[[nodiscard]] std::vector<base::KeyValue> info_values(MPI_Info info);

// A new info, to be freed by the caller.
[[nodiscard]] base::Result<MPI_Info> make_info(const std::vector<base::KeyValue>& values);

}  // namespace tessera::mpiio
