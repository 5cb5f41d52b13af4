// Peak memory of this process, over a while.
//
// Thread safety: one while at a time.
#pragma once

#include <cstdint>

#include "tessera/base/result.hpp"

namespace tessera::bench {

// Begins a while: the peak is from now on. Where the system cannot begin anew, it stays that of the
// whole process, which is not less.
void forget_peak_memory();
// The most that was resident since then, in bytes. Fails where the system does not tell.
[[nodiscard]] base::Result<int64_t> peak_memory_bytes();

}  // namespace tessera::bench
