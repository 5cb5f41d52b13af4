#include "tessera/pattern/overlap.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::pattern {

namespace {

using Wide = __int128;

// The least x >= 0 with low <= factor * x mod modulus <= high, or none.
// Requires 0 <= factor < modulus and 0 <= low <= high < modulus.
std::optional<Wide> first_in_range(int64_t factor, int64_t modulus, int64_t low, int64_t high) {
  if (low == 0) return 0;
  if (factor == 0) return std::nullopt;
  const int64_t reach = base::ceil_div(low, factor);
  if (Wide{reach} * factor <= high) return reach;
  // No multiple of the factor lies in the range before the first wrap: find how often to wrap.
  const int64_t low_left = (factor - high % factor) % factor;
  const int64_t high_left = (factor - low % factor) % factor;
  const auto wraps = first_in_range(modulus % factor, factor, low_left, high_left);
  if (!wraps) return std::nullopt;
  return (Wide{modulus} * *wraps + low + factor - 1) / factor;
}

// The set that a repeat covers when the gaps inside its copies are filled.
StridedSet hull_of(const Pattern& repeated) {
  const Node<1>& node = *repeated.shape().node;
  return {repeated.at()[0], node.child.hull(0).end, node.stride[0], node.count};
}

// Whether a run of one is a run of the other displaced: a + i * stride == b + j * stride' + shift.
bool displaced(const StridedSet& a, const StridedSet& b, int64_t shift) {
  return overlaps(StridedSet{a.begin, 1, a.stride, a.count},
                  StridedSet{b.begin + shift, 1, b.stride, b.count});
}

// Tests compressed patterns within a number of steps; no answer once they are spent.
class OverlapTest {
 public:
  explicit OverlapTest(int64_t steps) : steps_(steps) {}

  // Requires that both ascend.
  std::optional<bool> run(const Pattern& a, const Pattern& b) {
    if (!a.span().meets(b.span())) return false;
    if (--steps_ < 0) return std::nullopt;
    if (a.shape().is_run()) return b.offset_of(a.span().begin) < b.offset_of(a.span().end);
    if (b.shape().is_run()) return a.offset_of(b.span().begin) < a.offset_of(b.span().end);
    if (a.shape().is_repeat() && b.shape().is_repeat()) return run_repeats(a, b);
    return run_parts(a, b);
  }

  [[nodiscard]] int64_t steps_left() const { return std::max<int64_t>(0, steps_); }

 private:
  std::optional<bool> run_repeats(const Pattern& a, const Pattern& b) {
    const StridedSet hull_a = hull_of(a);
    const StridedSet hull_b = hull_of(b);
    if (!overlaps(hull_a, hull_b)) return false;
    const bool runs_a = a.shape().node->child.is_run();
    const bool runs_b = b.shape().node->child.is_run();
    if (runs_a && runs_b) return true;
    const int64_t divisor = std::gcd(hull_a.stride, hull_b.stride);
    const int64_t displacements = (hull_a.length + hull_b.length) / divisor + 1;
    if (displacements <= std::min(parts_met(a, b), parts_met(b, a))) {
      return run_displacements(a, b, divisor);
    }
    return run_parts(a, b);
  }

  // Every copy of one set against every copy of the other is the same test at one of few relative
  // places; a place counts if any pair of copies has it.
  std::optional<bool> run_displacements(const Pattern& a, const Pattern& b, int64_t divisor) {
    const StridedSet hull_a = hull_of(a);
    const StridedSet hull_b = hull_of(b);
    const int64_t first = base::ceil_div(hull_b.begin - hull_a.begin - hull_a.length + 1, divisor);
    for (int64_t shift = hull_b.begin - hull_a.begin - first * divisor; shift > -hull_b.length;
         shift -= divisor) {
      // Here a copy of b lies `shift` bytes after a copy of a.
      if (--steps_ < 0) return std::nullopt;
      if (!displaced(hull_a, hull_b, -shift)) continue;
      const Pattern moved({{a.at()[0] + shift}}, b.shape().node->child);
      const auto answer = run(Pattern(a.at(), a.shape().node->child), moved);
      if (!answer || *answer) return answer;
    }
    return false;
  }

  std::optional<bool> run_parts(const Pattern& a, const Pattern& b) {
    const bool swap = parts_met(b, a) < parts_met(a, b);
    const Pattern& apart = swap ? b : a;
    const Pattern& other = swap ? a : b;
    const Interval parts = apart.parts_meeting(other.span());
    for (int64_t i = parts.begin; i < parts.end; ++i) {
      const auto answer = run(apart.part(i), other);
      if (!answer || *answer) return answer;
    }
    return false;
  }

  static int64_t parts_met(const Pattern& apart, const Pattern& other) {
    return apart.parts_meeting(other.span()).length();
  }

  int64_t steps_;
};

// Merges the runs of both sides until two meet.
bool overlap_of_runs(const Pattern& a, const Pattern& b) {
  Cursor<1> cursor_a(a);
  Cursor<1> cursor_b(b);
  Piece<1> run_a;
  Piece<1> run_b;
  bool more = cursor_a.next_pieces({&run_a, 1}) == 1 && cursor_b.next_pieces({&run_b, 1}) == 1;
  while (more) {
    const int64_t end_a = run_a.at[0] + run_a.length;
    const int64_t end_b = run_b.at[0] + run_b.length;
    if (run_a.at[0] < end_b && run_b.at[0] < end_a) return true;
    more = end_a <= run_b.at[0] ? cursor_a.next_pieces({&run_a, 1}) == 1
                                : cursor_b.next_pieces({&run_b, 1}) == 1;
  }
  return false;
}

}  // namespace

bool overlaps(const StridedSet& a, const StridedSet& b) {
  TESSERA_ASSERT(a.length > 0 && a.length <= a.stride && a.count > 0);
  TESSERA_ASSERT(b.length > 0 && b.length <= b.stride && b.count > 0);
  // Run i of a, at x = i * a.stride relative to b's begin, meets some run of b if and only if a
  // multiple of b.stride lies in [x - b.length + 1, x + a.length - 1]. The runs of a that lie
  // wholly before or behind b are left out first; for every other one, b has the run that the
  // multiple names.
  const int64_t distance = a.begin - b.begin;
  const int64_t b_last = (b.count - 1) * b.stride;
  const int64_t first = std::max<int64_t>(0, base::ceil_div(1 - a.length - distance, a.stride));
  const int64_t behind = b_last + b.length - 1 - distance;
  const int64_t last = std::min(a.count - 1, base::floor_div(behind, a.stride));
  if (first > last) return false;
  const int64_t window = a.length + b.length - 1;
  if (window >= b.stride) return true;
  const int64_t top = base::floor_mod(distance + first * a.stride + a.length - 1, b.stride);
  if (top < window) return true;
  // top + i * a.stride must fall into [0, window) modulo b.stride.
  const auto found =
      first_in_range(a.stride % b.stride, b.stride, b.stride - top, b.stride - top + window - 1);
  return found && *found <= last - first;
}

base::Result<bool> overlaps(const ByteSet& a, const ByteSet& b, Budget budget) {
  return overlaps_within(a, b, budget);
}

base::Result<bool> overlaps_within(const ByteSet& a, const ByteSet& b, Budget& budget) {
  OverlapTest test(budget.steps);
  const auto answer = test.run(a.ascending(), b.ascending());
  budget.steps = test.steps_left();
  if (answer) return *answer;
  const Interval both = common(a.span(), b.span());
  const ByteSet met_a = a.within(both);
  const ByteSet met_b = b.within(both);
  if (met_a.runs() <= budget.max_runs && met_b.runs() <= budget.max_runs - met_a.runs()) {
    budget.max_runs -= met_a.runs() + met_b.runs();
    return overlap_of_runs(met_a.ascending(), met_b.ascending());
  }
  return base::fail(base::Code::kTooComplex,
                    "whether patterns of " + std::to_string(met_a.runs()) + " and " +
                        std::to_string(met_b.runs()) +
                        " runs overlap takes more work than allowed: they are nested irregularly");
}

}  // namespace tessera::pattern
