#include "tessera/cli/mpi_kind.hpp"

#include <charconv>

namespace tessera::cli {

namespace {

// The number after ".so.": 40 of "libmpi.so.40.30.4"; 0 where there is none.
int major_version(std::string_view name) {
  constexpr std::string_view kMark = ".so.";
  const size_t at = name.find(kMark);
  int version = 0;
  if (at == name.npos) return 0;
  const std::string_view digits = name.substr(at + kMark.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), version);
  return version;
}

}  // namespace

const char* mpi_word(Mpi mpi) { return mpi == Mpi::kOpenMpi ? "openmpi" : "mpich"; }

const char* mpi_title(Mpi mpi) { return mpi == Mpi::kOpenMpi ? "Open MPI" : "MPICH"; }

std::optional<Mpi> mpi_of_word(std::string_view word) {
  for (const Mpi mpi : kMpis) {
    if (word == mpi_word(mpi)) return mpi;
  }
  return std::nullopt;
}

std::optional<Mpi> mpi_of_library(std::string_view name) {
  // libmpi.so.12 is the common binary interface of MPICH and its kin; Open MPI counts from 40 on.
  constexpr int kMpichVersion = 12;
  constexpr int kOpenMpiVersion = 40;
  for (const std::string_view stem :
       {"libmpich.so", "libmpichfort.so", "libmpichcxx.so", "libmpifort.so", "libmpicxx.so"}) {
    if (name.starts_with(stem)) return Mpi::kMpich;
  }
  if (name.starts_with("libmpi_") && name.find(".so") != name.npos) return Mpi::kOpenMpi;
  if (!name.starts_with("libmpi.so")) return std::nullopt;
  const int version = major_version(name);
  if (version == kMpichVersion) return Mpi::kMpich;
  return version >= kOpenMpiVersion ? std::optional(Mpi::kOpenMpi) : std::nullopt;
}

std::string preload_name(Mpi mpi) {
  return std::string("libtessera-mpiio-") + mpi_word(mpi) + ".so";
}

}  // namespace tessera::cli
