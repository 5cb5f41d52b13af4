// Expanded lists: the peers of the compressed operations, written as well as a list allows.
//
// Each works on sorted lists of runs that were expanded beforehand, so that only the operation is
// measured and not the expansion. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/pattern/trace.hpp"

namespace tessera::bench {

using RunVector = std::vector<pattern::Run>;

// All runs of a pattern, in stream order.
[[nodiscard]] RunVector expanded(const pattern::Pattern& pattern);

// Whether two ascending lists share a byte. Cost: O(runs of both).
[[nodiscard]] bool lists_overlap(const RunVector& a, const RunVector& b);

// A run of a join: where it lies in p, in q, and how long it is.
struct JoinedRun {
  int64_t p = 0;
  int64_t q = 0;
  int64_t length = 0;
};

// The join of two lists of the same size, appended to `out`. Cost: O(runs of both).
void join_lists(const RunVector& p, const RunVector& q, std::vector<JoinedRun>& out);

// An object and the number of its set of sharers.
struct ListedObject {
  int64_t begin = 0;
  int64_t end = 0;
  int32_t sharers = 0;
};

struct ListedObjects {
  std::vector<ListedObject> objects;
  std::vector<std::vector<int32_t>> sharers;  // by number; the processes ascending

  [[nodiscard]] int64_t memory_bytes() const;
};

// The objects of views given as lists: all ends sorted, then one sweep. Cost: O(n log n).
[[nodiscard]] ListedObjects sweep_objects(std::span<const RunVector> views);

}  // namespace tessera::bench
