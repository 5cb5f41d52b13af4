#include "tessera/move/islands.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/page.hpp"

namespace tessera::move {

namespace {

// Pieces that begin and end at pages are written without touching parts of pages.
using base::kPageBytes;

int64_t piece_end(int64_t begin, int64_t length_max) {
  const int64_t end = begin + length_max;
  const int64_t aligned = end - end % kPageBytes;
  return aligned > begin ? aligned : end;
}

// The island that is all there is, if that can be told from its ends and its size.
std::optional<Island> only_island(const pattern::Pattern& file, const IslandLimits& limits) {
  const pattern::Interval span = file.span();
  const bool whole = !file.empty() && span.end <= piece_end(span.begin, limits.length_max) &&
                     span.length() - file.size() <= limits.gap_max;
  return whole ? std::optional(Island{{0, file.size()}, span}) : std::nullopt;
}

}  // namespace

IslandWalk::IslandWalk(const pattern::Pattern& file, const IslandLimits& limits)
    : limits_(limits), only_(only_island(file, limits)), cursor_(file) {
  TESSERA_ASSERT(file.ascending());
  TESSERA_ASSERT(limits.gap_max >= 0 && limits.length_max > 0);
}

bool IslandWalk::refill() { return stripe_.count > 0 || cursor_.next(stripe_); }

// Adds what fits of the stripe at hand; false if the island ends there.
bool IslandWalk::extend(Island& island, int64_t end_max) {
  const int64_t first = stripe_.at[0] + taken_;
  const int64_t room = end_max - first;
  if (room <= 0 || first - island.file.end > limits_.gap_max) return false;
  if (room < stripe_.length - taken_) {
    island.file.end = end_max;
    taken_ += room;
    stream_ += room;
    return false;
  }
  const int64_t stride = stripe_.stride[0];
  int64_t runs = 1;
  if (stripe_.count > 1 && stride - stripe_.length <= limits_.gap_max) {
    runs = std::min(stripe_.count, (end_max - stripe_.at[0] - stripe_.length) / stride + 1);
  }
  island.file.end = stripe_.at[0] + (runs - 1) * stride + stripe_.length;
  stream_ += runs * stripe_.length - taken_;
  taken_ = 0;
  stripe_.at += stripe_.stride * runs;
  stripe_.count -= runs;
  return true;
}

bool IslandWalk::next(Island& island) {
  if (only_) {
    island = *only_;
    return std::exchange(stream_, only_->stream.end) == 0;
  }
  if (!refill()) return false;
  const int64_t begin = stripe_.at[0] + taken_;
  island.file = {begin, begin};
  island.stream.begin = stream_;
  const int64_t end_max = piece_end(begin, limits_.length_max);
  while (refill() && extend(island, end_max)) {
  }
  island.stream.end = stream_;
  return true;
}

}  // namespace tessera::move
