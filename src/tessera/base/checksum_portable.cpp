// XXH3 for every processor; on x86 with the 128-bit vectors that all of them have.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tessera/base/checksum_kernels.hpp"

namespace tessera::base {

uint64_t xxh3_portable(ByteView bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace tessera::base
