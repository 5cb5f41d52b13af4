// `tessera demo`: the tile wall of paper 0. Thread safety: one thread.
#pragma once

#include <string>

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct DemoOptions {
  bool json = false;
  std::string html_path = "tessera-demo.html";
};

// Writes the page and prints text or JSON on standard output.
ExitCode run_demo(const DemoOptions& options);

}  // namespace tessera::cli
