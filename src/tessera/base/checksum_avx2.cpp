// XXH3 for x86 processors with 256-bit vectors.
#include "tessera/base/checksum_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// Below the pragma everything is compiled for this processor; what xxhash.h includes is included
// above it, because shared code must keep running everywhere.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#define XXH_INLINE_ALL
#define XXH_VECTOR 2  // XXH_AVX2, which xxhash.h defines only later
#include <xxhash.h>

namespace tessera::base {

uint64_t xxh3_avx2(ByteView bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace tessera::base

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
