// Filling the shelves of a plan: the engine that moves the bytes, once.
//
// The file is cut into one share for each process. A process reads its share in windows, large and
// one behind another, and gives each window to its ShareWriter. Blocks that lie in several shares
// are put together at the end: each process sends its fragments to the one that is responsible for
// the shelf, which writes and hashes the blocks. So nothing is read back, every block is written
// once, and memory is bounded by a window, 64 pieces, three blocks for each shelf, and the
// checksums. Thread safety: as the exchange; all functions are collective.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/remap/plan.hpp"
#include "tessera/remap/share_writer.hpp"
#include "tessera/remap/source.hpp"

namespace tessera::remap {

// Written at a time, where shelves are few; so large are the pages in which the system keeps it, if
// it has such memory at hand. Large ones are for files that will be read from memory, and for
// direct I/O. Small ones are for files that fill memory: where free memory lies in short runs, a
// write of a larger one waits until the system has made a longer run.
inline constexpr int64_t kPieceBytes = int64_t{128} << 10;
inline constexpr int64_t kLargePieceBytes = int64_t{512} << 10;
inline constexpr int64_t kSmallPieceBytes = int64_t{64} << 10;

struct FillOptions {
  int64_t window_bytes = 0;               // read at a time; 0 chooses
  int64_t piece_bytes_max = kPieceBytes;  // a power of two
  bool syncs = true;                      // this process makes what its node wrote durable
  port::File* direct = nullptr;           // the target again: pieces are written there
  // Told after each window how many bytes of shelves this process has taken in since the last
  // time, of how many for all processes.
  std::function<void(int64_t bytes, int64_t of_bytes)> progress;
};

// What a process is given to fill: all have the same plan and layout; source and file may be each
// process's own.
struct FillJob {
  port::Exchange& exchange;
  Source& source;
  port::File& target;
  const Plan& plan;
  const Layout& layout;
};

// Writes all shelves into the rooms of the layout and makes them durable. Answers the allocations
// on the first rank, by shelf, with ids from `first_id` on; nothing on others. Fails on all alike,
// as source and target do.
[[nodiscard]] base::Result<std::vector<container::Allocation>> fill(const FillJob& job,
                                                                    map::AllocationId first_id,
                                                                    const FillOptions& options);

// The part of an interval that belongs to a rank; large ones are cut at multiples of 64 KiB.
[[nodiscard]] Interval share_of(Interval whole, int rank, int ranks);

}  // namespace tessera::remap
