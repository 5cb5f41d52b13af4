// Whole files, read within a limit and written whole or not at all.
//
// Thread safety: calls are independent of each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/base/result.hpp"
#include "tessera/cli/output_file.hpp"

namespace tessera::cli {

// The content of a file, "-" for standard input. Fails with kNotFound, kDenied or kFailed, naming
// the path; with kInvalid if it is a directory or has more than size_bytes_max bytes. Pipes and
// devices are read up to the limit only.
[[nodiscard]] base::Result<std::string> read_whole(const std::string& path, int64_t size_bytes_max);

// Makes a file, or replaces one of the same kind (output_file.hpp); on failure what is there stays.
// A device is written in place. Fails with kInvalid for a file of another kind and for -, and with
// kNotFound, kDenied, kRetry or kFailed, naming the path.
[[nodiscard]] base::Result<void> write_whole(const std::string& path, std::string_view content,
                                             OutputKind kind);

}  // namespace tessera::cli
