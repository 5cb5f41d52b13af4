#include "tessera/cli/exit_code.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "tessera/base/json_writer.hpp"

namespace tessera::cli {

ExitCode exit_code_of(base::Code code) {
  switch (code) {
    case base::Code::kNotFound:
      return ExitCode::kNotFound;
    case base::Code::kIntegrity:
      return ExitCode::kIntegrity;
    case base::Code::kRetry:
      return ExitCode::kRetry;
    case base::Code::kDenied:
      return ExitCode::kDenied;
    case base::Code::kFailed:
    case base::Code::kInvalid:
    case base::Code::kTooComplex:
      break;
  }
  return ExitCode::kError;
}

std::string error_line(const base::Error& error) {
  std::string line = "tessera: ";
  for (const char c : error.message()) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    line += control ? '?' : c;
  }
  return line + "\n";
}

std::string error_json(const base::Error& error) {
  base::JsonWriter writer;
  writer.begin_object().key("error").begin_object();
  writer.member("code", code_name(error.code));
  writer.member("exit", static_cast<int>(exit_code_of(error.code)));
  writer.member("message", error.message());
  if (error.errno_value != 0) writer.member("errno", error.errno_value);
  writer.end_object().end_object();
  return writer.finish();
}

ExitCode report(const base::Error& error, bool json) {
  if (json) fmt::print("{}", error_json(error));
  std::fflush(stdout);
  fmt::print(stderr, "{}", error_line(error));
  return exit_code_of(error.code);
}

}  // namespace tessera::cli
