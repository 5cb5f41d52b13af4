// `tessera version`. Thread safety: pure functions; printing from one thread.
#pragma once

#include <string>

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct VersionOptions {
  bool json = false;
};

ExitCode run_version(const VersionOptions& options);

// "tessera 0.1.0"
[[nodiscard]] std::string version_line();

}  // namespace tessera::cli
