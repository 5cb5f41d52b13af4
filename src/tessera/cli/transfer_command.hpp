// `tessera import` and `tessera export`: plain files into object files and back.
//
// Thread safety: one thread.
#pragma once

#include <string>

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct TransferOptions {
  std::string from;
  std::string to;
  std::string views_path;  // of an import: a views file, where not empty
  bool force = false;      // replaces a file that is there
};

// Prints a line on standard output; errors are reported as exit_code.hpp says.
ExitCode run_import(const TransferOptions& options);
ExitCode run_export(const TransferOptions& options);

}  // namespace tessera::cli
