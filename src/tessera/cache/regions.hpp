// Regions: the space of a container that this rank has taken and fills.
//
// Between two commits a rank appends what it writes to space that nobody else has. Each piece of
// space becomes an allocation of the next commit, as far as it was filled. Checksums of blocks that
// one write covers are learnt while their bytes are in the cache; others are read back when the
// commit comes.
//   (R1) Places are given out once, in ascending order inside each region, unless they are given
//        back.
//   (R2) A checksum that is known is that of the block's bytes after every write noted so far.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/pattern/point.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::cache {

using pattern::Interval;

// Consecutive bytes of one allocation.
struct Extent {
  map::AllocationId allocation = 0;
  int64_t place = 0;  // of the first byte in the allocation
  int64_t bytes = 0;
  int64_t begin = 0;  // of the allocation in the container

  [[nodiscard]] int64_t position() const { return begin + place; }  // in the container
};

// The checksum of a block, by where it begins in the container.
struct BlockSum {
  int64_t position = 0;
  uint64_t sum = 0;
};

class Regions {
 public:
  explicit Regions(int64_t block_bytes) : block_bytes_(block_bytes) {}

  [[nodiscard]] bool empty() const { return regions_.empty(); }
  [[nodiscard]] bool holds(map::AllocationId allocation) const;
  // Bytes that take() can give.
  [[nodiscard]] int64_t room() const;
  // Whole blocks of the container that are free. Of adjacent pieces the second keeps its own id.
  void add_room(map::AllocationId id, Interval space);
  // Space that others fill too, of which so many bytes count; it is given to nobody.
  void add_filled(map::AllocationId id, Interval space, int64_t bytes, int32_t manager);
  // Requires bytes <= room(). Several extents where the room is in pieces.
  [[nodiscard]] std::vector<Extent> take(int64_t bytes);
  // The same in places that were given back, in one run; nothing if none are so many.
  [[nodiscard]] std::optional<Extent> take_again(int64_t bytes);
  // Nobody needs the bytes of the extent any more: its places are given out again. At a commit they
  // are dead bytes of the allocation, if there are others behind them. Space that others fill too
  // stays as it is.
  void give_back(const Extent& extent);

  // The bytes of an extent are in the file, and those of its blocks that it covers have these sums.
  void note_written(const Extent& extent, const std::vector<BlockSum>& sums);
  // Bytes at places of an allocation of this rank have changed; others are ignored.
  void note_rewritten(map::AllocationId allocation, Interval places);

  // What was filled, as allocations of this manager unless they have another, with all checksums;
  // those that are not known are read back. Fills the last blocks up with zeros; without space on
  // the disk for them the file may end before its last block does, where it reads as zeros once it
  // is extended. Requires that nobody writes meanwhile. Fails as the file does; it may be called
  // again.
  [[nodiscard]] base::Result<std::vector<container::Allocation>> close(port::File& file,
                                                                       int32_t manager);
  // After a commit that failed: nothing more goes into blocks that it may have named.
  void seal() { sealed_ = current_ = regions_.size(); }
  // After a sync that failed: writes all that was filled once more, since no later sync need cover
  // it. Fails with kIntegrity if a block is not what it was any more, and as the file does.
  [[nodiscard]] base::Result<void> write_again(port::File& file) const;
  // After a commit: what was filled belongs to it, the rest is free again.
  void clear() {
    regions_.clear();
    sealed_ = current_ = 0;
  }

 private:
  struct Region {
    map::AllocationId id = 0;
    Interval space;
    int64_t used = 0;
    std::optional<int32_t> manager = {};  // if it is not the rank
    std::vector<uint64_t> sums = {};
    std::vector<bool> known = {};
    std::vector<Interval> given_back = {};  // places before `used`

    [[nodiscard]] int64_t room() const { return manager ? 0 : space.length() - used; }
  };

  void add(Region region);
  [[nodiscard]] Region* find(map::AllocationId id);
  [[nodiscard]] base::Result<void> fill_up(const Region& region, port::File& file) const;
  [[nodiscard]] base::Result<void> learn_sums(Region& region, port::File& file) const;
  // The bytes of some blocks of a region.
  [[nodiscard]] base::Result<void> read_back(const Region& region, Interval blocks,
                                             port::File& file, base::Bytes& buffer) const;
  [[nodiscard]] base::Result<void> check_sums(const Region& region, int64_t first_block,
                                              base::ByteView blocks) const;

  const int64_t block_bytes_;
  std::vector<Region> regions_;
  size_t current_ = 0;  // the first with room
  size_t sealed_ = 0;   // nothing more goes into those before
};

}  // namespace tessera::cache
