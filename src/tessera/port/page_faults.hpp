// Page faults: how often this thread has met a page that was not mapped.
//
// Thread safety: pure; of the calling thread.
#pragma once

#include <cstdint>

namespace tessera::port {

// One system call.
[[nodiscard]] int64_t thread_faults();

}  // namespace tessera::port
