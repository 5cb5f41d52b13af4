// The part of the command line that deals with object files: import, export, show, check, compact
// and mount.
//
// Thread safety: one thread.
#pragma once

#include <CLI/App.hpp>
#include <optional>

#include "tessera/cli/check_command.hpp"
#include "tessera/cli/exit_code.hpp"
#include "tessera/cli/mount_command.hpp"
#include "tessera/cli/show_command.hpp"
#include "tessera/cli/transfer_command.hpp"

namespace tessera::cli {

// What the arguments of these commands say.
struct ObjectCommands {
  TransferOptions import_options;
  TransferOptions export_options;
  ShowOptions show;
  CheckCommandOptions check;
  CompactOptions compact;
  MountOptions mount;
};

// Adds the commands. The options outlive the parser.
void add_object_commands(CLI::App& app, ObjectCommands& commands);
// Runs the one that was chosen; nothing if it is another's.
[[nodiscard]] std::optional<ExitCode> run_object_command(const CLI::App& app,
                                                         const ObjectCommands& commands);

}  // namespace tessera::cli
