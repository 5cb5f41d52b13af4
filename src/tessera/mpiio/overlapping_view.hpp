// Views whose filetype names bytes more than once, which MPI allows in files that are only read.
//
// Their stream does not ascend through the file, so the engines cannot execute them: they are read
// here, a piece of the stream at a time, each with all that it spans.
// Thread safety: a value; const use from many threads is safe.
#pragma once

#include <cstdint>

#include "tessera/base/result.hpp"
#include "tessera/move/move.hpp"
#include "tessera/pattern/datatype.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::mpiio {

class OverlappingView {
 public:
  OverlappingView() = default;

  // Fails with kInvalid if a displacement is negative or smaller than the one before it, or the
  // filetype does not hold whole etypes.
  [[nodiscard]] static base::Result<OverlappingView> make(int64_t displacement,
                                                          const pattern::Datatype& filetype,
                                                          int64_t etype_size);

  // The bytes at the given stream offsets, in stream order.
  [[nodiscard]] base::Result<pattern::Pattern> bytes(pattern::Interval stream) const;
  // The file position of one byte of the stream.
  [[nodiscard]] base::Result<int64_t> position(int64_t offset) const;
  // The stream offset of the first tile that begins at or after a position.
  [[nodiscard]] int64_t offset_of(int64_t position) const;

 private:
  int64_t displacement_ = 0;
  int64_t extent_ = 1;
  pattern::Pattern tile_;
};

// Executes a read whose file pattern does not ascend. Requires its positions to be at least 0.
[[nodiscard]] move::Transfer read_overlapping(const move::Move& move, port::File& file);

}  // namespace tessera::mpiio
