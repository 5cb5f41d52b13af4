// Lists of folders with colons between them, and the programs found through them.
//
// Thread safety: pure functions over the file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::cli {

// "a:b" is a and b. Empty entries are left out.
[[nodiscard]] std::vector<std::string> folders_of(std::string_view list);

[[nodiscard]] bool is_file(const std::string& path);

// The file that a shell would run: a name with a slash as it is, any other in the folders of
// `path_list` (the value of PATH). Fails with kNotFound if there is none, with kDenied if what is
// there may not be run.
[[nodiscard]] base::Result<std::string> find_program(const std::string& name,
                                                     std::string_view path_list);

}  // namespace tessera::cli
