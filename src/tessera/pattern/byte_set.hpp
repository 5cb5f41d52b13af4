// ByteSet: a set of bytes of a file, compressed; order and repetition do not exist in it.
//
// The counterpart of Pattern for questions in which only membership counts: who shares a byte,
// which bytes a lock covers, what remains to be written. Kept as an ascending trace of maximal
// runs, so two runs of a set are always separated by a gap. Regular sets stay compressed through
// every operation where the result is regular. Thread safety: a value; const use from many threads
// is safe.
#pragma once

#include <cstdint>

#include "tessera/base/result.hpp"
#include "tessera/pattern/budget.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

class ByteSet {
 public:
  // The empty set.
  ByteSet() = default;

  // The bytes of one interval; fails with kInvalid if it is reversed or out of bounds.
  static base::Result<ByteSet> of(Interval bytes);

  // The bytes that occur in a pattern. Free for a pattern that ascends; loops are interchanged and
  // reversed where that makes one ascend; otherwise the runs are sorted, at most budget.max_runs of
  // them, beyond which it fails with kTooComplex.
  static base::Result<ByteSet> of(const Pattern& pattern, Budget budget = {});

  // The bytes of an ascending pattern. Requires pattern.ascending().
  static ByteSet of_ascending(Pattern pattern);

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  [[nodiscard]] int64_t size() const { return runs_.size(); }  // bytes
  [[nodiscard]] int64_t runs() const { return runs_.runs(); }  // maximal runs
  [[nodiscard]] Interval span() const { return runs_.span(); }
  // Cost of the next three: O(depth + log items).
  [[nodiscard]] bool contains(int64_t byte) const;
  [[nodiscard]] bool meets(Interval bytes) const;
  [[nodiscard]] bool contains(Interval bytes) const;

  // The bytes in file order.
  [[nodiscard]] const Pattern& ascending() const { return runs_; }

  [[nodiscard]] ByteSet within(Interval bytes) const { return ByteSet(runs_.within(bytes)); }
  // The bytes of `universe` that are not in the set. Exact, or kTooComplex for sets that are nested
  // deeply; see line_of().
  [[nodiscard]] base::Result<ByteSet> complement(Interval universe, Budget budget = {}) const;
  [[nodiscard]] base::Result<ByteSet> shifted(int64_t by) const;

 private:
  explicit ByteSet(Pattern runs) : runs_(std::move(runs)) {}

  Pattern runs_;
};

// Exact, or kTooComplex. Cost: O(parts met) where strides are equal or nested; see Budget.
[[nodiscard]] base::Result<ByteSet> intersect(const ByteSet& a, const ByteSet& b,
                                              Budget budget = {});
[[nodiscard]] base::Result<ByteSet> unite(const ByteSet& a, const ByteSet& b, Budget budget = {});
// As unite(), with a budget for many calls.
[[nodiscard]] base::Result<ByteSet> unite_within(const ByteSet& a, const ByteSet& b,
                                                 Budget& budget);
[[nodiscard]] base::Result<ByteSet> subtract(const ByteSet& a, const ByteSet& b,
                                             Budget budget = {});
// Whether both hold the same bytes, however they are built.
[[nodiscard]] base::Result<bool> equal(const ByteSet& a, const ByteSet& b, Budget budget = {});

}  // namespace tessera::pattern
