// `tessera check` and `tessera compact`: whether an object file is whole, and making it small.
//
// Thread safety: one thread.
#pragma once

#include <string>

#include "tessera/cli/exit_code.hpp"
#include "tessera/container/checker.hpp"

namespace tessera::cli {

struct CheckCommandOptions {
  std::string path;
  bool quick = false;  // without the contents of blocks
  bool json = false;
};

struct CompactOptions {
  std::string path;
};

// Prints on standard output what was found; errors are reported as exit_code.hpp says. kIntegrity
// if there is damage.
ExitCode run_check(const CheckCommandOptions& options);
ExitCode run_compact(const CompactOptions& options);

// What a check prints.
[[nodiscard]] std::string check_text(const std::string& path, const container::CheckReport& found);
[[nodiscard]] std::string check_json(const std::string& path, const container::CheckReport& found);

}  // namespace tessera::cli
