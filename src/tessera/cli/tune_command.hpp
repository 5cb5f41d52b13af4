// `tessera tune`: what transfers cost in a folder, kept as the profile of its file system.
//
// Thread safety: one thread.
#pragma once

#include <optional>
#include <string>

#include "tessera/base/config.hpp"
#include "tessera/base/result.hpp"
#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct TuneOptions {
  std::string directory;
  double seconds = 3;
  bool json = false;
  bool dry_run = false;  // stores nothing
  // What one machine cannot measure; where they are not given, those of an earlier profile stay.
  std::optional<double> message_ns;
  std::optional<double> network_byte_ns;
  std::optional<double> nodes_served;
};

// Measures, stores the profile unless told not to, and answers what is to be printed. Fails with
// kInvalid if the directory is none or a given cost makes no sense; with kFailed if there is no
// space; as the system does if nothing can be written there. The scratch file has lost its name
// before anything is written to it, so that nothing is left behind whatever ends the process.
[[nodiscard]] base::Result<std::string> tune_output(const TuneOptions& options,
                                                    const base::GetEnvironment& environment);

// Prints on standard output what was found; errors are reported as exit_code.hpp says.
ExitCode run_tune(const TuneOptions& options);

}  // namespace tessera::cli
