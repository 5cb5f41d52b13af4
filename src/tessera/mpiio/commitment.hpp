// Whether datatypes are committed, as MPI demands of those that move data.
//
// MPI has no question for it, so it is asked to pack nothing, on a communicator of ours where
// errors return. Thread safety: as the MPI's own.
#pragma once

#include <mpi.h>

namespace tessera::mpiio {

[[nodiscard]] bool is_committed(MPI_Datatype type);

// Frees the communicator; called by MPI_Finalize.
void end_commitment();

}  // namespace tessera::mpiio
