// The page of a benchmark run: one self-contained HTML file with inline SVG plots.
//
// It needs no network, no script and no font, follows the reader's light or dark setting, and
// prints. Thread safety: pure functions.
#pragma once

#include <string>

#include "bench/output.hpp"

namespace tessera::bench {

[[nodiscard]] std::string to_html(const BenchRun& run);

}  // namespace tessera::bench
