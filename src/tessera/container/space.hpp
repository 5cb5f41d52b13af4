// Space: where a container has room.
//
// Committed bytes are never overwritten, so new ones go to what the committed contents do not use:
// gaps between them, and the open end of the file. Many ranks take room at once without talking:
// they share one counter of virtual bytes, counted over all gaps one after another and then over
// the open end, and each computes where its share really is. All compute the same from the same
// contents.
//   (F1) Virtual bytes are numbered from 0 without end; physical() is one-to-one, and its image
//        holds no byte that is in use.
//   (F2) Gaps smaller than the minimum are left out: they would split chunks. The commit's blob may
//        use them.
//   (F3) Virtual intervals of whole blocks give physical intervals of whole blocks.
// A Space stays right from the commit that it was computed after to the next: what that one frees
// may be used only when it is durable, and by a new Space. Thread safety: a value.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/container/superblock.hpp"

namespace tessera::container {

inline constexpr int64_t kGapBytesMin = int64_t{1} << 20;

// What a commit uses: header, blob and allocations, ascending, whole blocks. Fails with kIntegrity
// if they overlap, are not aligned or lie behind the end of the container. O(n log n).
[[nodiscard]] base::Result<std::vector<Interval>> used_space(
    const Superblock& superblock, const std::vector<Allocation>& allocations);

// A container cannot grow beyond 2^62 bytes.
[[nodiscard]] base::Failure no_room();

class Space {
 public:
  // Requires used intervals that ascend, do not overlap and are not empty.
  explicit Space(const std::vector<Interval>& used, int64_t gap_bytes_min = kGapBytesMin);

  // Where virtual bytes are, in their order; neighbours are one interval. Requires 0 <= begin <=
  // end <= 2^62 - end(). O(log gaps + answer).
  [[nodiscard]] std::vector<Interval> physical(Interval virtual_bytes) const;

  // As physical(), of blocks that are numbered from 0. Fails as no_room() says instead of requiring
  // that they exist. Requires 0 <= begin <= end.
  [[nodiscard]] base::Result<std::vector<Interval>> physical_blocks(Interval blocks,
                                                                    int64_t block_bytes) const;

  // Of all gaps together: virtual bytes from here on are at the open end.
  [[nodiscard]] int64_t gap_bytes() const { return starts_.back(); }
  [[nodiscard]] const std::vector<Interval>& gaps() const { return gaps_; }
  // Behind everything that is in use.
  [[nodiscard]] int64_t end() const { return end_; }

  // The first room of that many bytes, in a gap of any size or at the open end. O(gaps).
  [[nodiscard]] Interval first_fit(int64_t bytes) const;

 private:
  std::vector<Interval> all_gaps_;
  std::vector<Interval> gaps_;   // those that count
  std::vector<int64_t> starts_;  // virtual begin of each, and at last their sum
  int64_t end_ = 0;
};

}  // namespace tessera::container
