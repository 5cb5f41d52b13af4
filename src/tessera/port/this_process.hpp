// This process: as people who look at a service of another one see it, who started it, and what is
// installed with it.
//
// Thread safety: pure.
#pragma once

#include <string>

namespace tessera::port {

// Of this machine.
[[nodiscard]] std::string host_name();
// "program, host:1234".
[[nodiscard]] std::string process_name();

// The MPI under whose launcher it runs as one of several, by the variables that launchers set:
// "openmpi" or "mpich", as in the names of files; empty if there is none.
[[nodiscard]] std::string launching_mpi();
// Where a program is that comes with this one: lib/tessera/NAME beside its folder.
[[nodiscard]] std::string own_program(const std::string& name);

}  // namespace tessera::port
