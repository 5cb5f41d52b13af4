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

namespace {

std::string line_of(const std::string& message) {
  std::string line = "tessera: ";
  for (const char c : message) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    line += control ? '?' : c;
  }
  return line + "\n";
}

std::string json_of(const char* code, ExitCode exit, const std::string& message, int errno_value) {
  base::JsonWriter writer;
  writer.begin_object().key("error").begin_object();
  writer.member("code", code).member("exit", static_cast<int>(exit)).member("message", message);
  if (errno_value != 0) writer.member("errno", errno_value);
  writer.end_object().end_object();
  return writer.finish();
}

}  // namespace

std::string error_line(const base::Error& error) { return line_of(error.message()); }

std::string error_json(const base::Error& error) {
  return json_of(code_name(error.code), exit_code_of(error.code), error.message(),
                 error.errno_value);
}

ExitCode report_usage(const std::string& message, bool json) {
  if (json) fmt::print("{}", json_of("usage", ExitCode::kUsage, message, 0));
  std::fflush(stdout);
  fmt::print(stderr, "{}", line_of(message));
  return ExitCode::kUsage;
}

ExitCode report(const base::Error& error, bool json) {
  if (json) fmt::print("{}", error_json(error));
  std::fflush(stdout);
  fmt::print(stderr, "{}", error_line(error));
  return exit_code_of(error.code);
}

}  // namespace tessera::cli
