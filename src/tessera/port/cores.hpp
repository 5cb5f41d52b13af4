// The processor cores of this machine that are ours to use.
//
// Thread safety: all functions from any thread.
#pragma once

#include <cstdint>

namespace tessera::port {

// That this process may use; threads of one core count once. At least 1.
[[nodiscard]] int64_t cores();

// Lets others that wait for this thread's core go first; returns at once if there are none.
void offer_core();

}  // namespace tessera::port
