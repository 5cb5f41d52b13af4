// external32: the representation of files that all machines read alike.
//
// Bytes are big-endian and have the sizes that the standard lists. Data is converted through a
// packed buffer with the running MPI's own packing functions, which know every type.
// Thread safety: all functions, if MPI was initialised for several threads.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::mpiio {

// Bytes that `count` of a type take in a file.
[[nodiscard]] base::Result<int64_t> external32_size(int64_t count, MPI_Datatype type);
[[nodiscard]] base::Result<base::Bytes> to_external32(const void* memory, int64_t count,
                                                      MPI_Datatype type);
// Converts what `file_bytes` holds, whole basic elements only; memory behind them is unchanged.
// Answers how many bytes of `file_bytes` were converted.
[[nodiscard]] base::Result<int64_t> from_external32(base::ByteView file_bytes, void* memory,
                                                    int64_t count, MPI_Datatype type);

}  // namespace tessera::mpiio
