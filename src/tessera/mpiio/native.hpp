// native: the MPI's own functions behind the ones that this library stands in for.
//
// TESSERA_NATIVE(MPI_File_open) is the MPI's own MPI_File_open, found once behind our library in
// the order in which the program's libraries are searched. It is asked for under its PMPI name, so
// that tools between the program and us are not called twice. Thread safety: everything.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

namespace tessera::mpiio {

// Ends the program with a message if the MPI has no such function: it then is not the MPI that this
// library was built for.
[[nodiscard]] void* native_symbol(const char* name);

}  // namespace tessera::mpiio

#define TESSERA_NATIVE(name)                                                           \
  ([]() -> decltype(&name) {                                                           \
    static const auto tessera_own =                                                    \
        reinterpret_cast<decltype(&name)>(::tessera::mpiio::native_symbol("P" #name)); \
    return tessera_own;                                                                \
  }())

// Declares the PMPI name of a function that is defined in the same file.
#define TESSERA_ALSO_PMPI(name) \
  extern "C" __attribute__((alias(#name), visibility("default"))) decltype(name) P##name
