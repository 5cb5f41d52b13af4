// What the functions of MPI answer to the program.
#pragma once

#include "tessera/mpiio/access.hpp"

namespace tessera::mpiio {

// The code for the program of what was done to a file.
inline int answer(OpenFile& file, const base::Result<void>& result) {
  return result ? MPI_SUCCESS : raise(file, result.error());
}

// The same where there is a value to hand out.
template <typename From, typename To>
int answer(OpenFile& file, const base::Result<From>& result, To* out) {
  if (!result) return raise(file, result.error());
  *out = static_cast<To>(*result);
  return MPI_SUCCESS;
}

}  // namespace tessera::mpiio
