// What the functions of MPI answer to the program.
#pragma once

#include "tessera/mpiio/access.hpp"
#include "tessera/mpiio/fault.hpp"

namespace tessera::mpiio {

// The code for the program of what the work did to a file; it answers a Result.
template <typename Work>
int answer(OpenFile& file, const Work& work) {
  const auto result = contain(work);
  return result ? MPI_SUCCESS : raise(file, result.error());
}

// The same where there is a value to hand out.
template <typename Work, typename To>
int answer(OpenFile& file, const Work& work, To* out) {
  const auto result = contain(work);
  if (!result) return raise(file, result.error());
  *out = static_cast<To>(*result);
  return MPI_SUCCESS;
}

}  // namespace tessera::mpiio
