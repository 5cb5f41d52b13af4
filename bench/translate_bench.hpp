// What it costs a producer that its file is translated while it writes.
//
// Thread safety: as MpiPool.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> translate_cases();

}  // namespace tessera::bench
