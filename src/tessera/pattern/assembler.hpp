// Assembler: builds a trace from parts given in stream order.
//
// Parts that continue each other are joined into one run (T1), and equal parts at equal distances
// become repetitions, at every level: this is how irregular lists are recognised as regular and how
// the results of operations stay compressed. Thread safety: none; one thread builds one trace.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

template <int D>
class Assembler {
 public:
  // Adds a part after all others. Cost: O(1), or O(depth) where it continues the part before it.
  void append(const Trace<D>& part);
  // Adds one run; requires length >= 0 and positions inside the bounds of (T4).
  void append_run(const Point<D>& at, int64_t length);

  [[nodiscard]] bool empty() const { return parts_.empty(); }
  [[nodiscard]] size_t part_count() const { return parts_.size(); }

  // The trace of all parts; the assembler is empty afterwards. Fails with kInvalid if the whole
  // leaves the bounds of (T4). Cost: O(parts), times a small constant for recognition.
  [[nodiscard]] base::Result<Trace<D>> finish();
  // As finish(), for parts of one trace that is itself in bounds.
  [[nodiscard]] Trace<D> finish_in_bounds();

 private:
  void join_to_last(const Trace<D>& part);
  [[nodiscard]] bool in_bounds() const;

  std::vector<Trace<D>> parts_;
};

// A pattern from a list of runs in stream order, empty ones dropped, recognised as far as it is
// regular. Fails with kInvalid if a run has a negative length or leaves the bounds of (T4).
[[nodiscard]] base::Result<Pattern> pattern_of_runs(const std::vector<Run>& runs);

}  // namespace tessera::pattern
