// `tessera show`: what is in an object file, and where its bytes lie.
//
// Thread safety: one thread.
#pragma once

#include <string>

#include "tessera/base/result.hpp"
#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct ShowOptions {
  std::string path;
  bool json = false;      // JSON on standard output instead of text
  bool views = false;     // the views that it records, as a views file
  std::string html_path;  // also write a page here, where not empty
};

// Prints on standard output; errors are reported as exit_code.hpp says.
ExitCode run_show(const ShowOptions& options);

// What it prints. Writes the page if one is asked for.
[[nodiscard]] base::Result<std::string> show_output(const ShowOptions& options);

}  // namespace tessera::cli
