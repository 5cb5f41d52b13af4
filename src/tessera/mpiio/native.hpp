// native: the MPI's own functions behind the ones that this library stands in for.
//
// TESSERA_NATIVE(MPI_File_open) is the MPI's own MPI_File_open, found once behind our library in
// the order in which the program's libraries are searched. It is asked for under its PMPI name, so
// that tools between the program and us are not called twice. Where a job begins and ends there is
// also TESSERA_TOOL(MPI_Init): the function of a tool that was preloaded behind us, null where the
// MPI's own follows. Thread safety: everything.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

namespace tessera::mpiio {

// Ends the program with a message if the MPI has no such function: it then is not the MPI that this
// library was built for.
[[nodiscard]] void* native_symbol(const char* name);

// The function `name` that follows ours, if it is not the MPI's; it reaches us again by its PMPI
// name.
[[nodiscard]] void* tool_symbol(const char* name, const char* pmpi_name);

}  // namespace tessera::mpiio

#define TESSERA_NATIVE(name)                                                           \
  ([]() -> decltype(&name) {                                                           \
    static const auto tessera_own =                                                    \
        reinterpret_cast<decltype(&name)>(::tessera::mpiio::native_symbol("P" #name)); \
    return tessera_own;                                                                \
  }())

#define TESSERA_TOOL(name) \
  reinterpret_cast<decltype(&name)>(::tessera::mpiio::tool_symbol(#name, "P" #name))

// Declares the PMPI name of a function that is defined in the same file.
#define TESSERA_ALSO_PMPI(name) \
  extern "C" __attribute__((alias(#name), visibility("default"))) decltype(name) P##name
