// `tessera run` and `tessera env`: MPI programs with Tessera's MPI-IO in them.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/cli/exit_code.hpp"
#include "tessera/cli/launch.hpp"
#include "tessera/cli/mpi_kind.hpp"

namespace tessera::cli {

struct RunOptions {
  std::optional<Mpi> mpi;                // otherwise detected from the program's libraries
  std::optional<LauncherKind> launcher;  // otherwise srun inside a job of Slurm, else mpiexec
  int64_t ranks = 0;
  std::vector<std::string> hints;          // "name=value"
  std::string record_views;                // a folder for what each rank saw, where not empty
  std::vector<std::string> launcher_args;  // each split at blanks
  bool dry_run = false;                    // print the command instead
  std::vector<std::string> program;        // with its arguments
};

// Becomes the launcher, so signals and the exit code are the job's own; returns only after a dry
// run or an error.
ExitCode run_program(const RunOptions& options);

enum class Shell { kSh, kCsh };

struct EnvOptions {
  std::optional<Mpi> mpi;  // otherwise that of the mpiexec on PATH, or the only one there is
  Shell shell = Shell::kSh;
};

// Prints what a shell can evaluate; for sh also, as comments, the launchers' flags.
ExitCode run_env(const EnvOptions& options);

}  // namespace tessera::cli
