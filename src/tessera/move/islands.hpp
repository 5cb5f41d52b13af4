// Islands: runs of a file that lie so close together that their gaps are moved with them.
//
// Sieving moves an island at a time. Regular patterns are walked by stripes, not by runs.
// Thread safety: none; the pattern may be shared.
#pragma once

#include <cstdint>
#include <optional>

#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::move {

struct Island {
  pattern::Interval stream;  // which bytes of the stream it holds
  pattern::Interval file;    // from its first wanted byte to its last

  [[nodiscard]] bool has_gaps() const { return stream.length() < file.length(); }
};

struct IslandLimits {
  int64_t gap_max = 0;     // a wider gap ends an island
  int64_t length_max = 1;  // an island's in the file; longer ones are cut, at pages where possible
};

class IslandWalk {
 public:
  // Requires a pattern that ascends, gap_max >= 0 and length_max > 0.
  IslandWalk(const pattern::Pattern& file, const IslandLimits& limits);

  // The next island; false at the end. Together the islands hold the whole stream, in order.
  // Cost: O(stripes met); O(1) where all gaps together are no wider than one may be.
  [[nodiscard]] bool next(Island& island);

 private:
  [[nodiscard]] bool refill();
  [[nodiscard]] bool extend(Island& island, int64_t end_max);

  const IslandLimits limits_;
  const std::optional<Island> only_;  // where that is known without a walk
  pattern::Cursor<1> cursor_;
  pattern::Stripe<1> stripe_;  // what is left of it; none if its count is 0
  int64_t taken_ = 0;          // bytes of its first run that an island has already
  int64_t stream_ = 0;
};

}  // namespace tessera::move
