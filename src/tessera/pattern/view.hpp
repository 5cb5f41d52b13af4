// Views: the part of a file that a process sees, as MPI_File_set_view defines it.
//
// A view is a datatype tiled from a displacement without end: copy i begins at displacement + i
// extents, and the stream of the view is the bytes of copy 0, 1, 2 and so on. "Without end" means
// up to the largest position; stream offsets below limit() exist, others are refused.
//   (V1) The stream order is the file order: positions only grow along the stream.
//   (V2) No position is negative.
// Thread safety: a value; const use from many threads is safe.
#pragma once

#include <cstdint>

#include "tessera/base/result.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/datatype.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

class View {
 public:
  // The whole file as bytes.
  View();

  // Fails with kInvalid unless the displacement and all positions of the filetype are at least 0,
  // the filetype ascends without overlap, holds at least one etype and whole ones only, and its
  // copies do not interleave (the extent is at least the span of the bytes).
  static base::Result<View> make(int64_t displacement, const Datatype& filetype,
                                 int64_t etype_size);

  [[nodiscard]] int64_t displacement() const { return displacement_; }
  [[nodiscard]] int64_t etype_size() const { return etype_size_; }
  [[nodiscard]] int64_t extent() const { return extent_; }
  // One copy of the filetype, relative to the displacement.
  [[nodiscard]] const Pattern& tile() const { return tile_; }
  // Stream offsets are less than it: whole tiles that end at or before kMaxPosition.
  [[nodiscard]] int64_t limit() const { return tiles_ * tile_.size(); }

  // The bytes at the given stream offsets: part of a tile, repeated tiles, part of a tile.
  // Fails with kInvalid unless 0 <= begin <= end <= limit(). Cost of this and the next three:
  // O(depth + log items), and the items of a tile that is cut.
  [[nodiscard]] base::Result<Pattern> bytes(Interval stream) const;

  // The file position of one byte. Fails with kInvalid unless 0 <= offset < limit().
  [[nodiscard]] base::Result<int64_t> position(int64_t offset) const;

  // The stream offset of the first byte at or after a file position; limit() if there is none.
  [[nodiscard]] int64_t offset_of(int64_t position) const;

  // The bytes of the view inside a range of the file. Fails with kTooComplex where repeat() does.
  [[nodiscard]] base::Result<ByteSet> within(Interval positions) const;

 private:
  int64_t displacement_ = 0;
  int64_t etype_size_ = 1;
  int64_t extent_ = 1;
  int64_t tiles_ = 0;
  Pattern tile_;
};

}  // namespace tessera::pattern
