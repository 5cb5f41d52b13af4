#include "tessera/pattern/zip.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/transform.hpp"

namespace tessera::pattern {

namespace {

// Steps are charged by recursion; a linear merge of two lists of runs is far cheaper per run.
constexpr int64_t kMergedRunsPerStep = 16;
// Lists of runs and sequences are merged part by part if neither has many times the parts of the
// other; otherwise the shorter one is looked up in the longer one.
constexpr int64_t kMergeRatio = 8;

// Whether all parts are runs.
template <int D>
bool is_flat(const Trace<D>& trace) {
  const Node<D>& node = *trace.shape().node;
  return trace.shape().is_repeat() ? node.child.is_run() : node.item.empty();
}

// Zips compressed traces within a number of steps. Neither side is cut while it is taken apart: a
// window of keys goes down with the parts, so every step descends on one side or halves the window,
// and the recursion is as deep as both traces together.
template <int A, int B>
class Zipper {
 public:
  static constexpr int kOut = A + B - 1;

  explicit Zipper(int64_t& steps) : steps_(steps) {}

  // Appends what a and b have in common in the window. False once the steps are spent; what was
  // appended is then incomplete.
  [[nodiscard]] bool run(const Trace<A>& a, const Trace<B>& b, Interval window,
                         Assembler<kOut>& out) {
    window = common(window, common(a.span(), b.span()));
    if (window.empty()) return true;
    if (--steps_ < 0) return false;
    if (!a.ascending() && !(b.shape().is_run() && window.contains(a.span()))) {
      return take_a_apart(a, {0, a.part_count()}, b, window, out);
    }
    if (b.shape().is_run()) {
      out.append(joined_to_run_of_b(a.ascending() ? a.within(window) : a, b));
      return true;
    }
    if (a.shape().is_run()) {
      out.append(joined_to_run_of_a(a, b.within(window)));
      return true;
    }
    return zip_parts(a, b, window, out);
  }

 private:
  // Periods of both sides that fall on each other: windows [begin + i * length, + length).
  struct Periods {
    int64_t begin = 0;
    int64_t length = 0;
    int64_t count = 0;
  };

  // Requires that neither side is a run and that both ascend.
  [[nodiscard]] bool zip_parts(const Trace<A>& a, const Trace<B>& b, Interval window,
                               Assembler<kOut>& out) {
    if (a.shape().is_repeat() && b.shape().is_repeat()) {
      if (const auto periods = common_periods(a, b, window)) {
        return zip_periods(a, b, window, *periods, out);
      }
    }
    const Interval parts_a = a.parts_meeting(window);
    const Interval parts_b = b.parts_meeting(window);
    const bool alike_many = parts_a.length() < kMergeRatio * parts_b.length() &&
                            parts_b.length() < kMergeRatio * parts_a.length();
    const bool sequences = a.shape().is_sequence() && b.shape().is_sequence();
    if (alike_many && (sequences || (is_flat(a) && is_flat(b)))) {
      return merge_parts(a, parts_a, b, parts_b, window, out);
    }
    if (parts_b.length() < parts_a.length()) return take_b_apart(a, b, parts_b, window, out);
    return take_a_apart(a, parts_a, b, window, out);
  }

  // Every byte of a lies in one run of b, so b's coordinates follow from the key.
  static Trace<kOut> joined_to_run_of_b(const Trace<A>& a, const Trace<B>& b) {
    if constexpr (B == 1) return a;
    const auto extend = [](const Point<A>& p) {
      Point<kOut> point;
      for (int d = 0; d < A; ++d) point[d] = p[d];
      for (int d = A; d < kOut; ++d) point[d] = p[0];
      return point;
    };
    const Trace<kOut> extended = transform<kOut>(a, extend);
    Point<kOut> shift;
    for (int d = A; d < kOut; ++d) shift[d] = b.at()[d - A + 1] - b.at()[0];
    return Trace<kOut>(extended.at() + shift, extended.shape());
  }

  // The other way round: b lies in one run of a, which has no order of its own to keep.
  static Trace<kOut> joined_to_run_of_a(const Trace<A>& a, const Trace<B>& b) {
    if constexpr (A == 1) return b;
    const auto extend = [](const Point<B>& p) {
      Point<kOut> point;
      for (int d = 0; d < A; ++d) point[d] = p[0];
      for (int d = A; d < kOut; ++d) point[d] = p[d - A + 1];
      return point;
    };
    const Trace<kOut> extended = transform<kOut>(b, extend);
    Point<kOut> shift;
    for (int d = 1; d < A; ++d) shift[d] = a.at()[d] - a.at()[0];
    return Trace<kOut>(extended.at() + shift, extended.shape());
  }

  static std::optional<Periods> common_periods(const Trace<A>& a, const Trace<B>& b,
                                               Interval window) {
    const Node<A>& na = *a.shape().node;
    const Node<B>& nb = *b.shape().node;
    const int64_t stride_a = na.stride[0];
    const int64_t stride_b = nb.stride[0];
    const auto length = base::checked_lcm(stride_a, stride_b);
    if (!length) return std::nullopt;
    // The last copy of each side is left out: its stride may reach beyond the bounds of positions.
    const Interval cells = common({a.at()[0], a.at()[0] + (na.count - 1) * stride_a},
                                  {b.at()[0], b.at()[0] + (nb.count - 1) * stride_b});
    const Interval both = common(window, cells);
    const int64_t behind = base::ceil_div(std::max<int64_t>(0, both.begin - a.at()[0]), stride_a);
    const int64_t begin = a.at()[0] + behind * stride_a;
    if (begin >= both.end) return std::nullopt;
    const int64_t count = (both.end - begin) / *length;
    if (count < 2) return std::nullopt;
    return Periods{begin, *length, count};
  }

  [[nodiscard]] bool zip_periods(const Trace<A>& a, const Trace<B>& b, Interval window,
                                 const Periods& periods, Assembler<kOut>& out) {
    const int64_t end = periods.begin + periods.count * periods.length;
    if (!run(a, b, {window.begin, periods.begin}, out)) return false;
    Assembler<kOut> period;
    if (!run(a, b, {periods.begin, periods.begin + periods.length}, period)) return false;
    const Node<A>& na = *a.shape().node;
    const Node<B>& nb = *b.shape().node;
    Point<kOut> stride;
    for (int d = 0; d < A; ++d) stride[d] = na.stride[d] * (periods.length / na.stride[0]);
    for (int d = A; d < kOut; ++d) {
      stride[d] = nb.stride[d - A + 1] * (periods.length / nb.stride[0]);
    }
    out.append(repeat_in_bounds(period.finish_in_bounds(), periods.count, stride));
    return run(a, b, {end, window.end}, out);
  }

  [[nodiscard]] bool merge_parts(const Trace<A>& a, Interval parts_a, const Trace<B>& b,
                                 Interval parts_b, Interval window, Assembler<kOut>& out) {
    steps_ -= (parts_a.length() + parts_b.length()) / kMergedRunsPerStep;
    if (steps_ < 0) return false;
    int64_t i = parts_a.begin;
    int64_t j = parts_b.begin;
    while (i < parts_a.end && j < parts_b.end) {
      const Trace<A> part_a = a.part(i);
      const Trace<B> part_b = b.part(j);
      const Interval keys = common(window, common(part_a.span(), part_b.span()));
      if (!keys.empty()) {
        if (part_a.shape().is_run() && part_b.shape().is_run()) {
          append_common(part_a.at(), part_b.at(), keys, out);
        } else if (!run(part_a, part_b, keys, out)) {
          return false;
        }
      }
      (part_a.span().end <= part_b.span().end) ? ++i : ++j;
    }
    return true;
  }

  static void append_common(const Point<A>& a, const Point<B>& b, Interval keys,
                            Assembler<kOut>& out) {
    Point<kOut> at;
    for (int d = 0; d < A; ++d) at[d] = a[d] + keys.begin - a[0];
    for (int d = A; d < kOut; ++d) at[d] = b[d - A + 1] + keys.begin - b[0];
    out.append_run(at, keys.length());
  }

  // Results of parts are assembled apart first, so that equal ones are seen to be equal.
  [[nodiscard]] bool take_a_apart(const Trace<A>& a, Interval parts, const Trace<B>& b,
                                  Interval window, Assembler<kOut>& out) {
    for (int64_t i = parts.begin; i < parts.end; ++i) {
      Assembler<kOut> zipped;
      if (--steps_ < 0 || !run(a.part(i), b, window, zipped)) return false;
      out.append(zipped.finish_in_bounds());
    }
    return true;
  }

  [[nodiscard]] bool take_b_apart(const Trace<A>& a, const Trace<B>& b, Interval parts,
                                  Interval window, Assembler<kOut>& out) {
    for (int64_t i = parts.begin; i < parts.end; ++i) {
      Assembler<kOut> zipped;
      if (--steps_ < 0 || !run(a, b.part(i), window, zipped)) return false;
      out.append(zipped.finish_in_bounds());
    }
    return true;
  }

  int64_t& steps_;
};

// Walks the runs of both sides one by one.
template <int A, int B>
Trace<A + B - 1> zip_runs(const Trace<A>& a, const Trace<B>& b) {
  constexpr int kOut = A + B - 1;
  Assembler<kOut> out;
  const std::vector<Piece<B>> pieces = expand(b);
  Cursor<A> cursor(a);
  std::vector<Piece<A>> batch(1024);
  while (const size_t count = cursor.next_pieces(batch)) {
    for (size_t i = 0; i < count; ++i) {
      const Interval keys = {batch[i].at[0], batch[i].at[0] + batch[i].length};
      auto piece =
          std::upper_bound(pieces.begin(), pieces.end(), keys.begin,
                           [](int64_t key, const Piece<B>& p) { return key < p.at[0] + p.length; });
      for (; piece != pieces.end() && piece->at[0] < keys.end; ++piece) {
        const Interval both = common(keys, {piece->at[0], piece->at[0] + piece->length});
        Point<kOut> at;
        for (int d = 0; d < A; ++d) at[d] = batch[i].at[d] + both.begin - keys.begin;
        for (int d = A; d < kOut; ++d) at[d] = piece->at[d - A + 1] + both.begin - piece->at[0];
        out.append_run(at, both.length());
      }
    }
  }
  return out.finish_in_bounds();
}

}  // namespace

template <int A, int B>
base::Result<Trace<A + B - 1>> zip(const Trace<A>& a, const Trace<B>& b, Budget& budget) {
  TESSERA_ASSERT(b.ascending());
  Zipper<A, B> zipper(budget.steps);
  Assembler<A + B - 1> out;
  if (zipper.run(a, b, common(a.span(), b.span()), out)) return out.finish();
  const Trace<B> met = b.within(a.span());
  const Trace<A> meeting = a.ascending() ? a.within(met.span()) : a;
  if (meeting.runs() <= budget.max_runs && met.runs() <= budget.max_runs - meeting.runs()) {
    budget.max_runs -= meeting.runs() + met.runs();
    return zip_runs(meeting, met);
  }
  return base::fail(base::Code::kTooComplex,
                    "patterns of " + std::to_string(meeting.runs()) + " and " +
                        std::to_string(met.runs()) +
                        " runs meet too irregularly: an exact answer needs more than " +
                        std::to_string(budget.max_runs) + " runs");
}

template base::Result<Trace<1>> zip(const Trace<1>&, const Trace<1>&, Budget&);
template base::Result<Trace<2>> zip(const Trace<2>&, const Trace<1>&, Budget&);
template base::Result<Trace<2>> zip(const Trace<1>&, const Trace<2>&, Budget&);
template base::Result<Trace<3>> zip(const Trace<2>&, const Trace<2>&, Budget&);

}  // namespace tessera::pattern
