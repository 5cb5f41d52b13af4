// Faults: errors on their way to an MPI program.
//
// Inside the house an error is a base::Error. At this door it needs an MPI error class, and a
// sentence that MPI_Error_string can give. Where the class does not follow from the errno it
// travels inside the error (fault()), so that it survives the agreement of the ranks. A permission
// that was there and has ended, a lock that was taken away, has a class of its own. Thread safety:
// everything.
#pragma once

#include <mpi.h>

#include <cerrno>
#include <exception>
#include <new>
#include <string>

#include "tessera/base/result.hpp"

namespace tessera::mpiio {

// An error of a given MPI class.
[[nodiscard]] base::Failure fault(int error_class, std::string context);

// The class of an error: the one given to fault(), else what its errno or code stands for.
[[nodiscard]] int class_of(const base::Error& error);

// The error as one line for a person.
[[nodiscard]] std::string text_of(const base::Error& error);

// What the work answers, which is a Result. An exception that would leave it, when there is no
// memory left, is an error like any other: none leaves a function of MPI, but for those of the
// program's own error handlers, which are called outside.
template <typename Work>
[[nodiscard]] auto contain(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return base::fail_errno(ENOMEM, "out of memory");
  } catch (const std::exception& thrown) {
    return base::fail(base::Code::kFailed, thrown.what());
  }
}

// A code of the right class whose MPI_Error_string is the error's text. Codes are few in some MPIs,
// so equal texts share one, and after many different ones the class itself is answered.
[[nodiscard]] int code_of(const base::Error& error);

// The text of a code that code_of() gave; empty for all others. MPICH keeps no text for a new code
// of a class of its own, so MPI_Error_string asks here first.
[[nodiscard]] std::string text_of_code(int code);

}  // namespace tessera::mpiio
