// CRC-32C: the checksum of small frames.
//
// Finds every change of up to 32 neighbouring bits, and others with all but one chance in four
// billion. A byte at a time, about half a gigabyte a second: for messages, not for contents.
// Thread safety: a pure function.
#pragma once

#include <cstdint>

#include "tessera/base/bytes.hpp"

namespace tessera::base {

// The Castagnoli polynomial, reflected, as iSCSI and ext4 use it. That of "123456789" is
// 0xE3069283.
[[nodiscard]] uint32_t crc32c(ByteView bytes);

}  // namespace tessera::base
