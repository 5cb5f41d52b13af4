// `tessera objects`: who shares which bytes of a file.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/cli/exit_code.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::cli {

struct ObjectsOptions {
  std::string views_path;               // a views file, or "-"
  bool json = false;                    // JSON on standard output instead of text
  std::string html_path;                // also write a page here, where not empty
  std::optional<pattern::Interval> at;  // only the objects that meet this
  int64_t families_max = 24;            // listed of a large set; 0 is all
};

// Prints on standard output; errors are reported as exit_code.hpp says.
ExitCode run_objects(const ObjectsOptions& options);

// What it prints. Writes the page if one is asked for.
[[nodiscard]] base::Result<std::string> objects_output(const ObjectsOptions& options);

// "15:30" is [15, 30). Fails with kInvalid if it is anything but two integers, the first smaller.
[[nodiscard]] base::Result<pattern::Interval> parse_interval(const std::string& text);

}  // namespace tessera::cli
