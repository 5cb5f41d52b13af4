// The size of a page, in which the systems that we run on keep memory and files.
//
// Where it is larger, it is a multiple. Thread safety: none needed.
#pragma once

#include <cstdint>

namespace tessera::base {

inline constexpr int64_t kPageBytes = 4096;

}  // namespace tessera::base
