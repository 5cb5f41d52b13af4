// Which MPI a program uses, detected from the libraries that it is linked with.
//
// The program is not run. A script stands for its interpreter; a Python interpreter, which links no
// MPI itself, for the mpi4py that it would import: it is asked where that lies, without importing
// it, and the linkage of that file is read. One that lies beside the script is found as Python
// does. Thread safety: one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/cli/library_search.hpp"
#include "tessera/cli/mpi_kind.hpp"

namespace tessera::cli {

// Where things are looked for.
struct Surroundings {
  std::string path_list;  // PATH
  LibraryPlaces libraries;
};

// Those of this process.
[[nodiscard]] Surroundings surroundings();

// The MPI of a program; or none, and why, for example "./script links no MPI".
struct ProgramMpi {
  std::optional<Mpi> mpi = {};
  std::string unknown = {};
  // No MPI may be assumed for it: it links two, or is a Python that has no mpi4py. A script or a
  // program that links none may still start or load one.
  bool refused = false;
};

// That of the program file at `path`, which is started with these arguments. Fails with kInvalid if
// nothing can be preloaded into the program because it is linked statically; with kNotFound or
// kDenied if a script names an interpreter that cannot be run.
[[nodiscard]] base::Result<ProgramMpi> mpi_of_program(
    const std::string& path, const Surroundings& around,
    const std::vector<std::string>& arguments = {});

// The interpreter that a script names, "/usr/bin/python3" or "python3" after env; empty if the
// text, a file's beginning, is no script.
[[nodiscard]] std::string interpreter_of(std::string_view text);

}  // namespace tessera::cli
