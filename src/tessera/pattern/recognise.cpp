#include "tessera/pattern/recognise.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/nodes.hpp"

namespace tessera::pattern {

namespace {

constexpr size_t kLevels = 8;
constexpr size_t kOften = 4;

// Long lists are searched for short periods only, so that recognition stays linear.
size_t longest_period(size_t parts) { return parts <= 512 ? 64 : 8; }

template <int D>
bool alike(const Trace<D>& a, const Trace<D>& b, const Point<D>& distance) {
  return a.size() == b.size() && a.at() + distance == b.at() && same_shape(a.shape(), b.shape());
}

// How often the `period` parts at `first` occur one after the other, each time at the same
// distance.
template <int D>
size_t repetitions(const std::vector<Trace<D>>& parts, size_t first, size_t period) {
  const Point<D> distance = parts[first + period].at() - parts[first].at();
  size_t matching = 0;
  while (first + period + matching < parts.size() &&
         alike(parts[first + matching], parts[first + period + matching], distance)) {
    ++matching;
  }
  return 1 + matching / period;
}

// Whether a repetition is worth its node: a pair of runs is not, a pair of larger parts is.
template <int D>
bool worthwhile(const std::vector<Trace<D>>& parts, size_t first, size_t period, size_t times) {
  if (times >= kOften) return true;
  if (times == 1) return false;
  return std::any_of(parts.begin() + static_cast<std::ptrdiff_t>(first),
                     parts.begin() + static_cast<std::ptrdiff_t>(first + period),
                     [](const Trace<D>& part) { return !part.shape().is_run(); });
}

struct Stretch {
  size_t period = 1;
  size_t times = 1;
};

// The shortest period that repeats often wins: longer ones are found on the next level, made of it.
template <int D>
Stretch best_stretch(const std::vector<Trace<D>>& parts, const std::vector<uint64_t>& hashes,
                     size_t first, size_t period_max) {
  Stretch best;
  for (size_t period = 1; period <= period_max && first + 2 * period <= parts.size(); ++period) {
    if (hashes[first + period] != hashes[first]) continue;
    if (period > 1 && hashes[first + period + 1] != hashes[first + 1]) continue;
    const size_t times = repetitions(parts, first, period);
    if (!worthwhile(parts, first, period, times)) continue;
    if (times >= kOften) return {period, times};
    if ((times - 1) * period > (best.times - 1) * best.period) best = {period, times};
  }
  return best;
}

template <int D>
bool group_equal_parts(std::vector<Trace<D>>& parts) {
  std::vector<Trace<D>> grouped;
  grouped.reserve(parts.size());
  const size_t period_max = longest_period(parts.size());
  std::vector<uint64_t> hashes;  // apart, because most comparisons end with them
  hashes.reserve(parts.size());
  for (const Trace<D>& part : parts) hashes.push_back(part.shape().hash());
  bool changed = false;
  for (size_t i = 0; i < parts.size();) {
    const Stretch stretch = best_stretch(parts, hashes, i, period_max);
    if (stretch.times == 1) {
      grouped.push_back(std::move(parts[i++]));
      continue;
    }
    const Point<D> stride = parts[i + stretch.period].at() - parts[i].at();
    const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(i);
    const Trace<D> unit = make_sequence(
        std::vector<Trace<D>>(begin, begin + static_cast<std::ptrdiff_t>(stretch.period)));
    grouped.push_back(repeat_in_bounds(unit, static_cast<int64_t>(stretch.times), stride));
    i += stretch.period * stretch.times;
    changed = true;
  }
  parts = std::move(grouped);
  return changed;
}

// What a part repeats: a single shape counts as a repetition of one.
template <int D>
struct Repetition {
  Shape<D> shape;
  int64_t count = 1;
  Point<D> stride;
};

template <int D>
Repetition<D> as_repetition_of(const Trace<D>& part, const Shape<D>& shape,
                               const Point<D>& stride) {
  if (same_shape(part.shape(), shape)) return {shape, 1, stride};
  if (!part.shape().is_repeat()) return {};
  const Node<D>& node = *part.shape().node;
  if (node.stride == stride && same_shape(node.child, shape)) return {shape, node.count, stride};
  return {};
}

// Joins a repetition with a neighbour that continues it. Returns false if neither does.
template <int D>
bool continue_repetition(Trace<D>& left, const Trace<D>& right) {
  const Trace<D>& repeated = left.shape().is_repeat() ? left : right;
  if (!repeated.shape().is_repeat()) return false;
  const Node<D>& node = *repeated.shape().node;
  const auto before = as_repetition_of(left, node.child, node.stride);
  const auto after = as_repetition_of(right, node.child, node.stride);
  if (before.shape.size == 0 || after.shape.size == 0) return false;
  if (left.at() + node.stride * before.count != right.at()) return false;
  left = Trace<D>(left.at(),
                  make_repeat_shape(before.shape, before.count + after.count, before.stride));
  return true;
}

template <int D>
bool join_neighbours(std::vector<Trace<D>>& parts) {
  std::vector<Trace<D>> joined;
  joined.reserve(parts.size());
  for (Trace<D>& part : parts) {
    if (!joined.empty() && continue_repetition(joined.back(), part)) continue;
    joined.push_back(std::move(part));
  }
  const bool changed = joined.size() != parts.size();
  parts = std::move(joined);
  return changed;
}

}  // namespace

template <int D>
void recognise(std::vector<Trace<D>>& parts) {
  if (parts.size() < 2) return;
  for (size_t level = 0; level < kLevels && parts.size() > 1; ++level) {
    const bool joined = join_neighbours(parts);
    const bool grouped = parts.size() > 1 && group_equal_parts(parts);
    if (!joined && !grouped) return;
  }
}

template void recognise(std::vector<Trace<1>>&);
template void recognise(std::vector<Trace<2>>&);
template void recognise(std::vector<Trace<3>>&);

}  // namespace tessera::pattern
