// BlockReader: bytes of allocations, as they were written or not at all.
//
// Checksums are kept for whole blocks, so whole blocks are read and hashed, whatever is asked for.
// Long runs go straight into the caller's memory in pieces that fit the second cache (larger ones
// from other machines), and are hashed there while they are warm; only ragged ends go through a
// buffer of the reader, together with the rest where each transfer waits for another machine. What
// is too large for the caches goes around them, by way of a buffer that stays in them and is hashed
// there. A block that does not match is read once more, since it may have been in flight; if it
// still does not, that is an integrity error, and nobody is given its bytes as good ones.
//   (B1) A read that succeeds with verification on has returned bytes of blocks that match.
//   (B2) Memory of the reader is bounded: a window of kWindowBytes or two blocks, and lists of at
//        most kPiecesMax pieces.
// A reader whose contents are older than the file's (another process committed, and wrote where
// the old state was) sees mismatches: on kIntegrity, Container::refresh() tells.
// Thread safety: none, one reader a thread; the file may be shared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/pattern/copy_kernels.hpp"
#include "tessera/pattern/trace.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::container {

// While they are hashed, bytes are still in the second cache; but where each transfer waits for
// another machine, fewer of them are better.
inline constexpr int64_t kTransferBytes = int64_t{256} << 10;
inline constexpr int64_t kRemoteTransferBytes = int64_t{16} << 20;
// Of a transfer from another machine, what one request of it fetches; they wait together. FUSE file
// systems answer somewhat less than 1 MiB at a time: 256 pages of memory that need not begin at
// one, and fewer if they go through a pipe. A longer piece would be two requests, one of them
// short.
inline constexpr int64_t kRemotePieceBytes = int64_t{960} << 10;

struct BlockReaderOptions {
  int64_t block_bytes = kBlockBytes;
  bool verify = true;
  // Names the logical bytes that are at places of an allocation, for the sentence of an error.
  std::function<std::string(map::AllocationId, Interval places)> logical_bytes;
  // Of a long run that one transfer fetches, and that is hashed then.
  int64_t transfer_bytes = kTransferBytes;
  // A longer transfer is made of such pieces, under way together; 0: it is one.
  int64_t piece_bytes = 0;
  // Processes of this machine that read as much at the same time, this one among them.
  int companions = 1;
  // Calls the body with the bytes of a part of the file, where they are to be had without a
  // transfer; whether it could. The body may be left anywhere, so it holds nothing that needs its
  // destructor. May be null.
  std::function<bool(Interval, const std::function<void(const std::byte*)>& body)> touch = {};
};

struct PlacedMemory {
  int64_t place = 0;  // in the allocation
  std::span<std::byte> memory;
};

class BlockReader {
 public:
  static constexpr int64_t kWindowBytes = int64_t{256} << 10;
  static constexpr size_t kPiecesMax = 16384;

  struct Counts {
    int64_t transfers = 0;      // that the file was asked for; a list counts once
    int64_t bytes_fetched = 0;  // from the file
    int64_t blocks_verified = 0;
    int64_t blocks_reread = 0;
  };

  // The file must outlive the reader.
  BlockReader(port::File& file, BlockReaderOptions options);

  // All of these require places inside the allocation, and fail with kIntegrity on a block that
  // does not match or a file that ends too early, and as the file does. After a failure the memory
  // holds anything.

  // memory.size() bytes from `place` on.
  [[nodiscard]] base::Result<void> read(const Allocation& allocation, int64_t place,
                                        std::span<std::byte> memory);
  // Each piece to its own memory. Requires places that ascend. Neighbours in one window share
  // one transfer.
  [[nodiscard]] base::Result<void> read_list(const Allocation& allocation,
                                             std::span<const PlacedMemory> pieces);
  // The bytes at the places, in their order, packed. Requires a pattern of memory.size() bytes.
  // Dense regular patterns that ascend are read a window at a time and not expanded.
  [[nodiscard]] base::Result<void> read_places(const Allocation& allocation,
                                               const pattern::Pattern& places,
                                               std::span<std::byte> memory);

  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  // Blocks of the allocation that lie in the window, next to each other from `at` on.
  struct Loaded {
    Interval places;
    size_t at = 0;
  };

  [[nodiscard]] Interval blocks_of(int64_t place, size_t bytes) const;
  [[nodiscard]] base::Result<void> fetch(const Allocation& allocation, int64_t place,
                                         std::span<std::byte> memory);
  [[nodiscard]] base::Result<void> fetch_together(const Allocation& allocation,
                                                  std::span<const PlacedMemory> parts);
  [[nodiscard]] base::Result<void> verify(const Allocation& allocation, int64_t place,
                                          std::span<std::byte> blocks);
  [[nodiscard]] base::Result<void> fetch_again(const Allocation& allocation, int64_t place,
                                               std::span<std::byte> block);
  [[nodiscard]] base::Result<void> load(const Allocation& allocation,
                                        std::span<const Loaded> blocks);
  [[nodiscard]] std::span<std::byte> window_of(size_t bytes);
  [[nodiscard]] base::Result<void> fetch_list(const Allocation& allocation,
                                              std::span<const PlacedMemory> pieces);
  [[nodiscard]] base::Result<void> read_through_window(const Allocation& allocation, int64_t place,
                                                       std::span<std::byte> memory,
                                                       pattern::CopyMode mode);
  [[nodiscard]] pattern::CopyMode mode_of(size_t bytes) const;
  [[nodiscard]] size_t transfer_bytes() const;
  [[nodiscard]] base::Result<void> read_pieces(const Allocation& allocation, int64_t place,
                                               std::span<std::byte> blocks, pattern::CopyMode mode);
  [[nodiscard]] size_t copy_good_blocks(const Allocation& allocation, int64_t place,
                                        std::span<std::byte> blocks);
  [[nodiscard]] base::Result<void> copy_blocks(const Allocation& allocation, int64_t place,
                                               std::span<std::byte> blocks);
  [[nodiscard]] base::Result<void> read_blocks(const Allocation& allocation, int64_t place,
                                               std::span<std::byte> blocks);
  [[nodiscard]] base::Result<void> read_with_ends(const Allocation& allocation, int64_t place,
                                                  std::span<std::byte> memory, Interval inner);
  [[nodiscard]] size_t plan_window(std::span<const PlacedMemory> pieces,
                                   std::vector<Loaded>& blocks) const;
  [[nodiscard]] base::Result<void> read_dense(const Allocation& allocation,
                                              const pattern::Pattern& places,
                                              std::span<std::byte> memory);
  [[nodiscard]] base::Result<void> read_scattered(const Allocation& allocation,
                                                  const pattern::Pattern& places,
                                                  std::span<std::byte> memory);

  port::File& file_;
  BlockReaderOptions options_;
  Counts counts_;
  // As large as the largest load so far; a short one does not pay for a whole window.
  std::unique_ptr<std::byte[]> window_;
  size_t window_bytes_ = 0;
};

}  // namespace tessera::container
