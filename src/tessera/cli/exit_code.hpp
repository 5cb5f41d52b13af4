// Exit codes and the one line that goes with each of them.
//
// Scripts decide by the code; people read the line on standard error. Commands that were asked for
// JSON print the error as JSON on standard output too, so that a program reads one stream.
// Thread safety: pure functions; printing from one thread at a time.
#pragma once

#include <string>

#include "tessera/base/result.hpp"

namespace tessera::cli {

enum class ExitCode : int {
  kOk = 0,
  kError = 1,
  kUsage = 2,
  kNotFound = 3,
  kIntegrity = 4,
  kRetry = 5,
  kDenied = 6,  // permission is missing or has expired
};

[[nodiscard]] ExitCode exit_code_of(base::Code code);

// Prints "tessera: message" on standard error, as one line whatever the message holds, and with
// `json` also {"error": {...}} on standard output. Returns the exit code.
ExitCode report(const base::Error& error, bool json);

// The same for a wrong command line, whose exit code is kUsage and whose JSON code is "usage".
ExitCode report_usage(const std::string& message, bool json);

// What report() prints, without printing it.
[[nodiscard]] std::string error_line(const base::Error& error);
[[nodiscard]] std::string error_json(const base::Error& error);

}  // namespace tessera::cli
