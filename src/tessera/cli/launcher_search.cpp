#include "tessera/cli/launcher_search.hpp"

#include <fmt/core.h>

#include <array>
#include <filesystem>

#include "tessera/cli/child_output.hpp"
#include "tessera/cli/search_path.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

namespace {

std::optional<Mpi> mpi_of_launcher(const std::string& path) {
  const auto version = output_of({path, "--version"});
  return version ? mpi_of_version(*version) : std::nullopt;
}

}  // namespace

std::optional<Mpi> mpi_of_version(std::string_view version_text) {
  const auto says = [&](std::string_view word) {
    return version_text.find(word) != version_text.npos;
  };
  if (says("Open MPI") || says("OpenRTE") || says("PRRTE")) return Mpi::kOpenMpi;
  if (says("HYDRA") || says("MPICH") || says("Intel(R) MPI")) return Mpi::kMpich;
  return std::nullopt;
}

Result<std::string> find_mpiexec(Mpi mpi, std::string_view path_list) {
  const std::string debian = fmt::format("mpiexec.{}", mpi_word(mpi));
  for (const std::string& folder : folders_of(path_list)) {
    if (const auto path = find_program(folder + "/" + debian, ""); path) return *path;
    const auto path = find_program(folder + "/mpiexec", "");
    if (path && mpi_of_launcher(*path) == mpi) return *path;
  }
  return base::fail(Code::kNotFound, fmt::format("no mpiexec of {} is on the PATH ({}, or mpiexec)",
                                                 mpi_title(mpi), debian));
}

std::optional<Mpi> mpi_of_mpiexec(std::string_view path_list) {
  const auto path = find_program("mpiexec", path_list);
  return path ? mpi_of_launcher(*path) : std::nullopt;
}

Result<std::string> find_preload(Mpi mpi) {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return base::fail_errno(failed.value(), "cannot find this program's own file");
  return find_preload(mpi, program.parent_path().string());
}

Result<std::string> find_preload(Mpi mpi, const std::string& program_folder) {
  const std::string name = preload_name(mpi);
  const auto base_folder = std::filesystem::path(program_folder).parent_path();
  for (const char* folder : {"lib", "lib/" TESSERA_MACHINE, "lib64", "lib/tessera"}) {
    const std::string path = (base_folder / folder / name).string();
    if (is_file(path)) return path;
  }
  return base::fail(Code::kNotFound,
                    fmt::format("{} is not beside this program: neither in {} nor in its folders "
                                "tessera and " TESSERA_MACHINE ", nor in lib64",
                                name, (base_folder / "lib").string()));
}

}  // namespace tessera::cli
