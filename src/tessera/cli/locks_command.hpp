// `tessera locks` and `tessera locks break`: the locks of running lock servers.
//
// Thread safety: one thread.
#pragma once

#include <optional>
#include <string>

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct LocksOptions {
  std::string address;  // empty: all servers of this user
  std::optional<std::string> file;
  std::optional<double> watch_s;  // look again and again
  bool json = false;
};

// Prints once, or until SIGINT, SIGTERM or SIGHUP.
ExitCode run_locks(const LocksOptions& options);

struct BreakOptions {
  std::string lock;  // "SESSION.SEQUENCE"
  std::string address;
  bool yes = false;  // do not ask
};

// Asks on a terminal first, unless told not to.
ExitCode run_break(const BreakOptions& options);

}  // namespace tessera::cli
