// `tessera hints`: what can be said about how files are moved.
//
// Thread safety: one thread.
#pragma once

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct HintsOptions {
  bool markdown = false;  // docs/hints.md
  bool json = false;
};

ExitCode run_hints(const HintsOptions& options);

}  // namespace tessera::cli
