// The command that starts a job with Tessera's library in it.
//
// Every launcher has its own way to give its ranks a variable without taking it itself; the library
// must reach the ranks only. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cli/mpi_kind.hpp"

namespace tessera::cli {

using Variable = std::pair<std::string, std::string>;

enum class LauncherKind { kMpiexec, kSrun };

struct LaunchRequest {
  Mpi mpi = Mpi::kOpenMpi;
  LauncherKind kind = LauncherKind::kMpiexec;
  std::string launcher;  // the program that starts the ranks
  int64_t ranks = 1;
  std::string preload;                     // the value of LD_PRELOAD for the ranks
  std::vector<Variable> variables;         // more variables for the ranks
  std::vector<std::string> forwarded;      // names set here already that the ranks need too
  std::vector<std::string> launcher_args;  // as the user gave them
  std::vector<std::string> program;        // with its arguments
  bool as_root = false;
  bool crowded = false;  // more ranks than cores
};

struct LaunchCommand {
  std::vector<Variable> environment;  // for the launcher itself
  std::vector<std::string> words;
};

[[nodiscard]] LaunchCommand launch_command(const LaunchRequest& request);

// Our library before what LD_PRELOAD holds already, once.
[[nodiscard]] std::string preload_list(const std::string& library, const std::string& present);

// The command as a person would type it into a shell: one line.
[[nodiscard]] std::string command_text(const LaunchCommand& command);

// A word in quotes where a shell would otherwise change it.
[[nodiscard]] std::string shell_quoted(const std::string& word);

}  // namespace tessera::cli
