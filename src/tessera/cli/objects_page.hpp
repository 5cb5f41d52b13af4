// The page of `tessera objects --html`. Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/summary.hpp"

namespace tessera::cli {

[[nodiscard]] std::string objects_page(const Shown& shown);

}  // namespace tessera::cli
