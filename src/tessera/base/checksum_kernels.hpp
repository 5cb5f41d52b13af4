// Private to checksum.cpp: XXH3 compiled for one set of vector instructions each.
//
// The library is used as a header, so that nothing of it is exported by what is preloaded into
// programs, and no shared library is needed. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "tessera/base/bytes.hpp"

namespace tessera::base {

uint64_t xxh3_portable(ByteView bytes);
#if defined(__x86_64__)
// Requires a processor that has them.
uint64_t xxh3_avx2(ByteView bytes);
#endif

}  // namespace tessera::base
