// Views for the remap cases: how some processes divide a square file among them.
//
// As texts of views files, because that is what `tessera remap` is given. The file is a square of
// bytes, row by row. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/object/tile_wall.hpp"

namespace tessera::bench {

enum class Shape {
  kRows,
  kColumns,
  kBlocks,
  kCyclic,     // records of 4 KiB dealt in turn
  kIrregular,  // runs of 1 byte to 64 KiB dealt in turn
  // Where each has a sixteenth of its neighbours besides, on every side.
  kOverlappingRows,
  kOverlappingBlocks,
};

[[nodiscard]] const char* name_of(Shape shape);
[[nodiscard]] bool overlaps(Shape shape);

// Of a file of side x side bytes. Blocks require a square number of processes; all require
// a side of at least 4096.
[[nodiscard]] std::string views_text(Shape shape, int64_t processes, int64_t side);

// Of the readers of a wall.
[[nodiscard]] std::string views_text(const object::Wall& wall);

}  // namespace tessera::bench
