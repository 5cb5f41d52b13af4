// What this machine has to start jobs with: launchers, cores, and Tessera's own libraries.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/result.hpp"
#include "tessera/cli/mpi_kind.hpp"

namespace tessera::cli {

// The mpiexec of an MPI: in the first folder of PATH that has one, under the name that Debian gives
// it or, if it says that it is the right one, under its plain name. Fails with kNotFound.
[[nodiscard]] base::Result<std::string> find_mpiexec(Mpi mpi, std::string_view path_list);

// The MPI of the plain `mpiexec` on PATH, if there is one and it says so.
[[nodiscard]] std::optional<Mpi> mpi_of_mpiexec(std::string_view path_list);

// Whose launcher prints this for --version.
[[nodiscard]] std::optional<Mpi> mpi_of_version(std::string_view version_text);

// The library to preload, beside the program that runs: in ../lib, ../lib/<machine>, ../lib64 or
// ../lib/tessera. Fails with kNotFound, naming where it was looked for.
[[nodiscard]] base::Result<std::string> find_preload(Mpi mpi);
// The same beside the program in a given folder.
[[nodiscard]] base::Result<std::string> find_preload(Mpi mpi, const std::string& program_folder);

}  // namespace tessera::cli
