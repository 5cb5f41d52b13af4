// Whole files, read within a limit and written whole or not at all.
//
// Thread safety: calls are independent of each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/base/result.hpp"

namespace tessera::cli {

// The content of a file, "-" for standard input. Fails with kNotFound, kDenied or kFailed, naming
// the path; with kInvalid if it is a directory or has more than size_bytes_max bytes. Pipes and
// devices are read up to the limit only.
[[nodiscard]] base::Result<std::string> read_whole(const std::string& path, int64_t size_bytes_max);

// Replaces a file; on failure its old content stays. Fails with kNotFound, kDenied, kRetry or
// kFailed, naming the path.
[[nodiscard]] base::Result<void> write_whole(const std::string& path, std::string_view content);

}  // namespace tessera::cli
