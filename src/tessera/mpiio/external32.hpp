// external32: the representation of files that all machines read alike.
//
// Bytes are big-endian and have the sizes that the standard lists (elements.hpp): those of memory,
// but 4 bytes for MPI_LONG and MPI_UNSIGNED_LONG and 2 for MPI_WCHAR. A long double is an IEEE
// number of 16 bytes. Data is converted through a packed buffer (external32_codec.hpp says why not
// with the MPI's own functions). Functions fail as convert() in types.hpp. Thread safety: all
// functions, if MPI was initialised for several threads.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::mpiio {

// Bytes that `count` of a type take in a file.
[[nodiscard]] base::Result<int64_t> external32_size(int64_t count, MPI_Datatype type);
// Also fails with the class MPI_ERR_CONVERSION if a number does not fit.
[[nodiscard]] base::Result<base::Bytes> to_external32(const void* memory, int64_t count,
                                                      MPI_Datatype type);
// Converts what `file_bytes` holds, whole basic elements only; memory behind them is unchanged.
// Answers how many bytes of `file_bytes` were converted.
[[nodiscard]] base::Result<int64_t> from_external32(base::ByteView file_bytes, void* memory,
                                                    int64_t count, MPI_Datatype type);

}  // namespace tessera::mpiio
