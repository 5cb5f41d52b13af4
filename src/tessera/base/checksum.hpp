// Checksum: 64 bits that tell whether stored contents are still what was written.
//
// XXH3 of 64 bits without a seed, as the xxHash library defines it: the same on every machine and
// in every version, so it may stand in files. It finds accidents (a flipped bit, a torn or lost
// write, a block of another file), with all but one chance in 2^64; it is no defence against those
// who change bytes on purpose. Small frames use crc32c.hpp. The widest vectors of the processor are
// chosen at the first call. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "tessera/base/bytes.hpp"

namespace tessera::base {

// O(bytes), at the speed of the cache they are in: 20 to 50 gigabytes a second for 16 KiB.
[[nodiscard]] uint64_t checksum(ByteView bytes);

// One version of the function for each set of vector instructions; tests hold them to each other.
// 512-bit vectors were measured to be no faster.
enum class ChecksumLevel { kPortable, kAvx2 };
inline constexpr ChecksumLevel kChecksumLevels[] = {ChecksumLevel::kPortable, ChecksumLevel::kAvx2};

// Whether this processor can run that version.
[[nodiscard]] bool checksum_runs(ChecksumLevel level);
// Requires checksum_runs(level).
[[nodiscard]] uint64_t checksum_at(ChecksumLevel level, ByteView bytes);

}  // namespace tessera::base
