// Names of plain files in the lock service: the same for everybody who has the file open, whatever
// path it was opened by; and where servers listen that are started because they are needed.
//
// Thread safety: pure, but for the folder of this user's running programs
// (port/runtime_folder.hpp).
#pragma once

#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::lock {

// What a file is called in messages.
[[nodiscard]] std::string plain_file_name(const port::PlainFile::Identity& identity);

// Where the server of one file listens that was started because it was needed. Fails as
// runtime_folder() does.
[[nodiscard]] base::Result<std::string> on_demand_address(
    const port::PlainFile::Identity& identity);

// Where the proxy of a server listens that was started because the server had no room. Fails as
// runtime_folder() does.
[[nodiscard]] base::Result<std::string> on_demand_proxy_address(const std::string& upstream);

}  // namespace tessera::lock
