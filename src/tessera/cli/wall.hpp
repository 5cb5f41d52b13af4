// The object sets of a wall of screens (object/tile_wall.hpp), with the paper's names.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>

#include "tessera/base/result.hpp"
#include "tessera/cli/summary.hpp"
#include "tessera/object/tile_wall.hpp"

namespace tessera::cli {

using object::kPaperExample;
using object::kPaperWall;
using object::Tile;
using object::Wall;

// Readers are called TR0, TR1, ..., writers TW0, TW1, ...
[[nodiscard]] base::Result<Shown> reader_objects(const Wall& wall);
[[nodiscard]] base::Result<Shown> writer_objects(const Wall& wall, int64_t writers);

}  // namespace tessera::cli
