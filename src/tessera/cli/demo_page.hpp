// The page of `tessera demo`. Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/demo_model.hpp"

namespace tessera::cli {

[[nodiscard]] std::string demo_page(const Demo& demo);

}  // namespace tessera::cli
