// Packed writes: the bytes of a move, one after another at one position of a container.
//
// The bytes go from memory to the file in pieces that stay in the cache while the blocks they cover
// are hashed. Thread safety: calls on different extents may run at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/cache/regions.hpp"
#include "tessera/move/move.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::cache {

// Whether the disk gets the bytes soon, because a sync will follow; it then works while others are
// still copied. What is written again before the sync would cost it twice.
enum class WriteBack { kLater, kAtOnce };

// Writes the bytes of the move's memory from `position` on and adds the checksums of the blocks
// that they cover whole. Memory used: at most 8 MiB, mostly less than 1 MB.
[[nodiscard]] port::Transfer write_packed(port::File& file, const move::Move& move,
                                          int64_t position, int64_t block_bytes,
                                          WriteBack write_back, std::vector<BlockSum>& sums);

}  // namespace tessera::cache
