// Window I/O: a piece of the file in memory, read or written by the one rank that handles it.
//
// A window that was provided whole is written in one transfer. Where bytes are missing:
//
//   list     the runs that are there are written one by one, if they are few
//   mapped   they are stored through a mapping of the file, where it is one of this machine
//   merged   the missing bytes are read first, under an exclusive lock that is held for just these
//            two transfers and while nobody else is waited for, so that locks of two collective
//            moves cannot wait for each other in a circle
//
// The first two touch the provided bytes only. Merging writes bytes of others back, who may not
// take locks; so it is done only where there is no mapping, or a hint asks for it, and not in a
// file that cannot be read.
//   (W1) Nothing is written behind the last byte that was provided.
// Thread safety: as Context.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/base/result.hpp"
#include "tessera/move/coverage_map.hpp"
#include "tessera/move/engine.hpp"

namespace tessera::move {

// Byte p of the file is at bytes[p - file.begin].
struct Window {
  Interval file;
  std::byte* bytes = nullptr;
};

// How far it went: all positions of the window before `end` were moved.
struct [[nodiscard]] Outcome {
  int64_t end = 0;
  base::Result<void> status;
};

// A read that ends before the window does without an error met the end of the file.
Outcome read_window(const Window& window, Context& context);
// Requires that every byte was provided.
Outcome write_window(const Window& window, Context& context);
// Writes the bytes that the map marks; bit 0 is the window's first byte. Requires that the last
// byte is marked. May fill in bytes of the window that are not.
Outcome write_covered(const Window& window, const CoverageMap& map, Context& context);

}  // namespace tessera::move
