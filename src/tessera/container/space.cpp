#include "tessera/container/space.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::container {

base::Result<std::vector<Interval>> used_space(const Superblock& superblock,
                                               const std::vector<Allocation>& allocations) {
  const int64_t block = superblock.block_bytes;
  std::vector<Interval> used = {
      {0, header_end(block, superblock.version)},
      {superblock.blob.begin, base::ceil_div(superblock.blob.end, block) * block}};
  for (const Allocation& allocation : allocations) {
    if (allocation.place.end > superblock.end) {
      return base::fail(base::Code::kIntegrity, "allocation " + std::to_string(allocation.id) +
                                                    " of the object file reaches to byte " +
                                                    std::to_string(allocation.place.end) +
                                                    ", behind the end of the container at byte " +
                                                    std::to_string(superblock.end));
    }
    used.push_back(allocation.place);
  }
  std::sort(used.begin(), used.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
  for (size_t i = 0; i < used.size(); ++i) {
    const bool overlaps = i > 0 && used[i].begin < used[i - 1].end;
    if (overlaps || used[i].empty() || used[i].begin % block != 0 || used[i].end % block != 0) {
      return base::fail(base::Code::kIntegrity,
                        "the contents of the object file use bytes [" +
                            std::to_string(used[i].begin) + ", " + std::to_string(used[i].end) +
                            ") of the container " + (overlaps ? "twice" : "not in whole blocks"));
    }
  }
  return used;
}

base::Failure no_room() {
  return base::fail(base::Code::kIntegrity,
                    "a container ends at 2^62 bytes at the latest, and this one leaves no room "
                    "before that; export the file and import it again");
}

Space::Space(const std::vector<Interval>& used, int64_t gap_bytes_min) {
  for (const Interval interval : used) {
    TESSERA_ASSERT(end_ <= interval.begin && !interval.empty());
    if (end_ < interval.begin) all_gaps_.push_back({end_, interval.begin});
    end_ = interval.end;
  }
  int64_t sum = 0;
  for (const Interval gap : all_gaps_) {
    if (gap.length() < gap_bytes_min) continue;
    gaps_.push_back(gap);
    starts_.push_back(sum);
    sum += gap.length();
  }
  starts_.push_back(sum);
}

std::vector<Interval> Space::physical(Interval virtual_bytes) const {
  TESSERA_ASSERT(virtual_bytes.begin >= 0 && virtual_bytes.begin <= virtual_bytes.end);
  TESSERA_ASSERT(virtual_bytes.end <= pattern::kMaxPosition - end_);
  std::vector<Interval> places;
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), virtual_bytes.begin);
  auto i = static_cast<size_t>(after - starts_.begin()) - 1;
  for (int64_t at = virtual_bytes.begin; at < virtual_bytes.end; ++i) {
    const bool open = i == gaps_.size();
    const int64_t end = open ? virtual_bytes.end : std::min(virtual_bytes.end, starts_[i + 1]);
    const int64_t begin = (open ? end_ : gaps_[i].begin) + (at - starts_[i]);
    if (!places.empty() && places.back().end == begin) {
      places.back().end += end - at;
    } else {
      places.push_back({begin, begin + (end - at)});
    }
    at = end;
  }
  return places;
}

base::Result<std::vector<Interval>> Space::physical_blocks(Interval blocks,
                                                           int64_t block_bytes) const {
  if (blocks.end > (pattern::kMaxPosition - end_) / block_bytes) return no_room();
  return physical({blocks.begin * block_bytes, blocks.end * block_bytes});
}

Interval Space::first_fit(int64_t bytes) const {
  for (const Interval gap : all_gaps_) {
    if (gap.length() >= bytes) return {gap.begin, gap.begin + bytes};
  }
  return {end_, end_ + bytes};
}

}  // namespace tessera::container
