// A flat index: which of many disjoint intervals meet [a,b), with few cache misses.
//
// It exists because an object set asks this for every access, and a tree of nodes pays a cache miss
// for each of its twenty levels. Here the interval ends lie in a static B+-tree without pointers:
// nodes of 16 keys, levels one after another, the children of node k of a level being the nodes
// 17k .. 17k+16 of the next. A million intervals take five levels, of which the inner four stay in
// the cache. A node is searched by comparing all 16 keys at once (AVX-512, AVX2, or portable code,
// chosen when the index is made), without a branch that depends on the data. The begins of 16
// intervals and their values lie beside their ends, so that the walk after the search has them in
// the cache.
//
// The index is built once and never changes; copies share it. Thread safety: const functions from
// any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tessera/pattern/point.hpp"

namespace tessera::object {

// Positions [begin, end) in the sequence of intervals.
struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;

  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

class FlatIndex {
 public:
  // Which instructions search; kBest is the best this processor has. The others are for tests, and
  // fall back to kPortable where the processor lacks them.
  enum class Instructions { kBest, kAvx512, kAvx2, kPortable };

  FlatIndex() = default;
  // Requires non-empty, disjoint intervals in ascending order, and as many values or none, which
  // stands for all zero. Cost: O(n).
  explicit FlatIndex(std::span<const pattern::Interval> intervals,
                     std::span<const int32_t> values = {},
                     Instructions instructions = Instructions::kBest);

  [[nodiscard]] int64_t size() const { return size_; }

  // Requires 0 <= i < size().
  [[nodiscard]] pattern::Interval operator[](int64_t i) const {
    const int64_t* key = leaf_of(i) + i % kKeys;
    return pattern::Interval{key[kKeys], key[0]};
  }

  // The caller's value of interval i. Requires 0 <= i < size().
  [[nodiscard]] int32_t value(int64_t i) const { return values_of(leaf_of(i))[i % kKeys]; }

  // The first interval whose end lies after a; size() if there is none. It meets [a,b) if it begins
  // before b, and so do those after it that begin before b. Cost: O(log n).
  [[nodiscard]] int64_t first_meeting(int64_t a) const {
    return a >= last_end_ ? size_ : search_(shape_, a);
  }

  // All intervals that meet [a,b), which are consecutive. Cost: O(log n), whatever b - a.
  [[nodiscard]] IndexRange meeting(int64_t a, int64_t b) const;

  [[nodiscard]] int64_t memory_bytes() const;

 private:
  static constexpr int64_t kKeys = 16;  // of a node; two cache lines
  static constexpr int64_t kFanout = kKeys + 1;
  static constexpr int64_t kLeafWords = 5 * kKeys / 2;  // ends, begins, and values half as wide
  static constexpr int kLevelsMax = 16;                 // 17^16 leaves exceed any memory

  // What a search needs. inner[0] is the root; level l + 1 is one below; then come the leaves.
  struct Shape {
    const int64_t* inner[kLevelsMax] = {};
    const int64_t* leaves = nullptr;
    int inner_levels = 0;
  };
  using Search = int64_t (*)(const Shape& shape, int64_t a);

  struct Searches;  // the versions for the instruction sets

  [[nodiscard]] const int64_t* leaf_of(int64_t i) const {
    return shape_.leaves + i / kKeys * kLeafWords;
  }
  [[nodiscard]] static const int32_t* values_of(const int64_t* leaf) {
    return reinterpret_cast<const int32_t*>(leaf + 2 * kKeys);
  }
  void fill_leaves(std::span<const pattern::Interval> intervals, std::span<const int32_t> values,
                   int64_t* leaves);
  void fill_inner(const std::vector<int64_t>& level_nodes, int64_t* words);

  std::shared_ptr<int64_t> words_;  // shared by copies, which is safe as it never changes
  int64_t word_count_ = 0;
  int64_t size_ = 0;
  int64_t last_end_ = INT64_MIN;
  Shape shape_;
  Search search_ = nullptr;
};

}  // namespace tessera::object
