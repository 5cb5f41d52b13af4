// The processor cores of this machine that are ours to use.
//
// Thread safety: all functions from any thread.
#pragma once

#include <cstdint>

namespace tessera::port {

// That this process may use; threads of one core count once. At least 1.
[[nodiscard]] int64_t cores();

}  // namespace tessera::port
