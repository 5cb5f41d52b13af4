// The failures that all transports share, in the same words.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>

#include "tessera/base/result.hpp"

namespace tessera::port {

// A caller's frame is over the limit.
[[nodiscard]] base::Failure frame_too_long(size_t frame_bytes, size_t frame_bytes_max);
// A peer's frame is.
[[nodiscard]] base::Failure announced_too_long(size_t frame_bytes, size_t frame_bytes_max);
[[nodiscard]] base::Failure too_much_unsent(size_t unsent_bytes);
[[nodiscard]] base::Failure connection_gone();

}  // namespace tessera::port
