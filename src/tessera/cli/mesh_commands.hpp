// The part of the command line that deals with meshes: mesh plan and mesh renumber.
//
// Thread safety: one thread.
#pragma once

#include <CLI/App.hpp>
#include <optional>

#include "tessera/cli/exit_code.hpp"
#include "tessera/cli/mesh_plan_command.hpp"
#include "tessera/cli/mesh_renumber_command.hpp"

namespace tessera::cli {

// What the arguments of these commands say.
struct MeshCommands {
  MeshPlanOptions plan;
  MeshRenumberOptions renumber;
};

// Adds the commands. The options outlive the parser.
void add_mesh_commands(CLI::App& app, MeshCommands& commands);
// Runs the one that was chosen; nothing if it is another's.
[[nodiscard]] std::optional<ExitCode> run_mesh_command(const CLI::App& app,
                                                       const MeshCommands& commands);

}  // namespace tessera::cli
