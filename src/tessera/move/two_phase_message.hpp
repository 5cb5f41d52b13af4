// Messages of two-phase moves, as bytes.
//
//   list     a rank's cells (window_schedule.hpp) and whether its transfers have come short
//   parcel   a pattern of places in the file, and bytes: those for the places, or those that an
//            earlier parcel asked for
//
// Thread safety: pure functions on values.
#pragma once

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/move/move.hpp"
#include "tessera/move/window_schedule.hpp"

namespace tessera::move {

struct ListMessage {
  CellList list;
  bool short_before = false;
};

[[nodiscard]] base::Bytes encode_list(const ListMessage& message);
// Fails with kIntegrity on bytes that encode_list does not write: parts out of order or out of
// their cells.
[[nodiscard]] base::Result<ListMessage> decode_list(base::ByteView bytes, int64_t cell);

// A parcel's first part; its bytes are appended to it.
[[nodiscard]] base::Bytes begin_parcel(const Pattern& places, int64_t room);

struct Parcel {
  Pattern places;
  base::ByteView bytes;  // of the message
};

// Fails with kIntegrity unless the places ascend and lie in `file`.
[[nodiscard]] base::Result<Parcel> read_parcel(base::ByteView message, Interval file);

}  // namespace tessera::move
