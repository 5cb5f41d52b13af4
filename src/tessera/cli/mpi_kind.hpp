// The two MPIs that Tessera has a library for.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::cli {

enum class Mpi { kOpenMpi, kMpich };
inline constexpr Mpi kMpis[] = {Mpi::kOpenMpi, Mpi::kMpich};

// "openmpi" or "mpich": the word of --mpi and of file names.
[[nodiscard]] const char* mpi_word(Mpi mpi);
// "Open MPI" or "MPICH": for people.
[[nodiscard]] const char* mpi_title(Mpi mpi);
[[nodiscard]] std::optional<Mpi> mpi_of_word(std::string_view word);

// The MPI whose library has this name; libraries with MPICH's binary interface count as MPICH.
[[nodiscard]] std::optional<Mpi> mpi_of_library(std::string_view name);

// "libtessera-mpiio-openmpi.so"
[[nodiscard]] std::string preload_name(Mpi mpi);

}  // namespace tessera::cli
