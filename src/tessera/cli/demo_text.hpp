// The demo for a person at a terminal, and its figures for a program. Thread safety: pure
// functions.
#pragma once

#include <string>

#include "tessera/cli/demo_model.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

[[nodiscard]] std::string demo_text(const Demo& demo);
// {"page": path, "example": {...}, "wall": {...}, "runs": [...]}
[[nodiscard]] std::string demo_json(const Demo& demo, const std::string& page_path);

// Which reader objects each written object meets, also for the page.
[[nodiscard]] Table lookup_table(const SmallDemo& demo);
// Figure 8, also for the page.
[[nodiscard]] Table layout_table(const SmallDemo& demo);

}  // namespace tessera::cli
