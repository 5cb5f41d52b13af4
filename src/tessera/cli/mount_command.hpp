// `tessera mount`: an object file as a plain file in a directory.
//
// Thread safety: one thread.
#pragma once

#include <string>

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct MountOptions {
  std::string path;
  std::string folder;
  bool foreground = false;
  bool read_only = false;
};

// Returns when the file is mounted; with `foreground`, and in the process that serves it, when it
// is unmounted and what was written is committed. Errors are reported as exit_code.hpp says.
ExitCode run_mount(const MountOptions& options);

}  // namespace tessera::cli
