// Large pages: the units in which a file is mapped.
//
// The system keeps files in pages of up to 2 MB, and a fault in a mapping that holds the whole of a
// large page is the last one there; so mappings begin and end at multiples of it.
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::move {

inline constexpr int64_t kLargePageBytes = int64_t{2} << 20;

// The large pages that hold a part of the file. Requires that it begins at 0 or later.
[[nodiscard]] inline pattern::Interval large_pages_around(pattern::Interval part) {
  return {part.begin / kLargePageBytes * kLargePageBytes,
          base::ceil_div(part.end, kLargePageBytes) * kLargePageBytes};
}

// Whether a part of a file is used enough to take space and large pages for all of it, its gaps
// included, when so many processes each write `bytes` there: one byte in eight at least.
[[nodiscard]] inline bool fills(int64_t bytes, int64_t length, int companions) {
  constexpr int64_t kTakenPerByte = 8;
  return length / (kTakenPerByte * companions) <= bytes;
}

}  // namespace tessera::move
