// ShareWriter: one process's part of every shelf.
//
// A process has a share of the file, an interval. By (P3) of plan.hpp its bytes are one run of
// places on each shelf. They come window by window, are gathered into pieces of whole blocks,
// hashed while they are in the cache, and go to the file a piece at a time. Pieces end at multiples
// of their size in the file, whatever the windows are: the system keeps what it is given so in
// pages as large as a piece, and those are read faster. Blocks that the ends of the share cut
// belong to several processes: their bytes are kept as fragments, which somebody puts together
// (fill.hpp).
//   (W1) No byte outside of whole blocks of the share is written; each block is written once.
//   (W2) After all windows, sums() and fragments() describe every byte of the share.
// Memory: up to two blocks for each shelf, and a piece for each that is begun and not complete.
// Thread safety: none; the file may be shared.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/aligned_bytes.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/remap/plan.hpp"

namespace tessera::remap {

// Checksums of consecutive blocks of a shelf.
struct BlockSums {
  size_t shelf = 0;
  int64_t first_block = 0;
  std::vector<uint64_t> sums;
};

// Bytes of a shelf that do not fill a block.
struct Fragment {
  size_t shelf = 0;
  int64_t place = 0;
  base::Bytes bytes;
};

// Where the allocations of the shelves are in the new container: one behind another, at multiples
// of a block.
struct Layout {
  int64_t block_bytes = 0;
  std::vector<Interval> rooms;  // whole blocks, by shelf

  // Requires rooms.
  [[nodiscard]] Interval hull() const { return {rooms.front().begin, rooms.back().end}; }
};
[[nodiscard]] Layout layout_of(const Plan& plan, int64_t begin, int64_t block_bytes);

class ShareWriter {
 public:
  // All outlive the writer. Pieces are written from memory that begins at a page. Requires pieces
  // of whole blocks.
  ShareWriter(port::File& target, const Plan& plan, const Layout& layout, Interval share,
              int64_t piece_bytes);

  // Requires windows that lie in the share, ascend and cover what the plan needs of it; `memory`
  // holds the bytes of the window. Fails as the file does; then the writer can only be given up.
  [[nodiscard]] base::Result<void> write(Interval window, const std::byte* memory);

  // Bytes of shelves that were taken in, fragments included.
  [[nodiscard]] int64_t taken_bytes() const { return taken_bytes_; }
  [[nodiscard]] std::vector<BlockSums> sums() const;
  [[nodiscard]] std::vector<Fragment> fragments() const;

 private:
  // The share of one shelf.
  struct Lane {
    Interval whole;            // places of whole blocks
    int64_t at = 0;            // the next place
    base::AlignedBytes piece;  // of whole blocks, before `at`, not written yet
    int64_t filled = 0;        // of the piece
    std::vector<uint64_t> sums;
    base::Bytes head;  // bytes before `whole`, and those behind it
    base::Bytes tail;
    int64_t begin = 0;  // places of the share
    int64_t end = 0;
  };

  [[nodiscard]] base::Result<void> write_lane(size_t shelf, int64_t end, const std::byte* memory,
                                              int64_t window_begin);
  [[nodiscard]] base::Result<void> write_piece(size_t shelf);
  [[nodiscard]] int64_t piece_length(size_t shelf) const;

  port::File& target_;
  const Plan& plan_;
  const Layout& layout_;
  const int64_t piece_bytes_;
  std::vector<Lane> lanes_;
  int64_t taken_bytes_ = 0;
};

}  // namespace tessera::remap
