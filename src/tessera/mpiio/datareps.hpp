// Data representations: native, internal, external32, and those a program registers.
//
// A registered representation without conversion functions is native data under another name. With
// conversion functions it can be registered, but views cannot use it, as the standard allows.
// Thread safety: everything.
#pragma once

#include <mpi.h>

#include <string>

#include "tessera/base/result.hpp"
#include "tessera/mpiio/types.hpp"

namespace tessera::mpiio {

// Fails with MPI_ERR_DUP_DATAREP if the name is taken.
[[nodiscard]] base::Result<void> register_datarep(const std::string& name, bool converts);

// Fails with MPI_ERR_UNSUPPORTED_DATAREP.
[[nodiscard]] base::Result<Representation> find_datarep(const std::string& name);

}  // namespace tessera::mpiio
