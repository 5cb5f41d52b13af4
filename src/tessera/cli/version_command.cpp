#include "tessera/cli/version_command.hpp"

#include <fmt/core.h>

#include "tessera/base/json_writer.hpp"

namespace tessera::cli {

std::string version_line() { return "tessera " TESSERA_VERSION; }

ExitCode run_version(const VersionOptions& options) {
  if (!options.json) {
    fmt::print("{}\n", version_line());
    return ExitCode::kOk;
  }
  base::JsonWriter writer;
  writer.begin_object().member("name", "tessera").member("version", TESSERA_VERSION).end_object();
  fmt::print("{}", writer.finish());
  return ExitCode::kOk;
}

}  // namespace tessera::cli
