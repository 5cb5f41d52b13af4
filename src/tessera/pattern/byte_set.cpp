#include "tessera/pattern/byte_set.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/line.hpp"
#include "tessera/pattern/zip.hpp"

namespace tessera::pattern {

using base::Code;
using base::fail;
using base::Result;

namespace {

// Set algebra by laying both sets over their common hull; `chosen` tells by membership in a and b.
Result<ByteSet> combine(const ByteSet& a, const ByteSet& b, bool (*chosen)(bool, bool),
                        Budget& budget) {
  const Interval hull = {std::min(a.span().begin, b.span().begin),
                         std::max(a.span().end, b.span().end)};
  if (hull.end > kMaxPosition + std::min<int64_t>(0, hull.begin)) {
    return fail(Code::kInvalid, "the union of two sets spans more than 2^62 bytes");
  }
  TESSERA_TRY(const Line line_a, line_of(a, hull, 1, 0, budget));
  TESSERA_TRY(const Line line_b, line_of(b, hull, 1, 0, budget));
  TESSERA_TRY(const Line line,
              overlay(
                  line_a, line_b,
                  [chosen](Label x, Label y) { return Label{chosen(x == 1, y == 1)}; }, budget));
  return bytes_labelled(line, [](Label label) { return label == 1; });
}

// Sorts the runs of a pattern that has too little order for anything better.
Result<ByteSet> sort_runs(const Pattern& pattern, Budget& budget) {
  if (pattern.runs() > budget.max_runs) {
    return fail(Code::kTooComplex, "a pattern of " + std::to_string(pattern.runs()) +
                                       " runs in no regular order: sorting is limited to " +
                                       std::to_string(budget.max_runs) + " runs");
  }
  budget.max_runs -= pattern.runs();
  std::vector<Piece<1>> pieces = expand(pattern);
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece<1>& a, const Piece<1>& b) { return a.at[0] < b.at[0]; });
  Assembler<1> sorted;
  int64_t end = -kMaxPosition;
  for (const Piece<1>& piece : pieces) {
    const Interval fresh = {std::max(end, piece.at[0]), piece.at[0] + piece.length};
    if (fresh.empty()) continue;
    sorted.append_run({{fresh.begin}}, fresh.length());
    end = fresh.end;
  }
  return ByteSet::of_ascending(sorted.finish_in_bounds());
}

Result<ByteSet> ordered(const Pattern& pattern, Budget& budget);

// Unites copies of a set whose spans meet: first 1, then 2, then 4 of them at a time.
Result<ByteSet> unite_copies(const ByteSet& set, int64_t count, int64_t stride, Budget& budget) {
  ByteSet doubled = set;  // of 2^k copies
  ByteSet united;         // of the copies for the low bits of count
  int64_t copies = 1;
  int64_t placed = 0;
  for (int64_t left = count; left > 0; left /= 2, copies *= 2) {
    if (left % 2 == 1) {
      TESSERA_TRY(const ByteSet next, doubled.shifted(placed * stride));
      TESSERA_TRY(united, unite_within(united, next, budget));
      placed += copies;
    }
    if (left > 1) {
      TESSERA_TRY(const ByteSet next, doubled.shifted(copies * stride));
      TESSERA_TRY(doubled, unite_within(doubled, next, budget));
    }
  }
  return united;
}

Result<ByteSet> ordered_repeat(const Pattern& pattern, Budget& budget) {
  const Node<1>& node = *pattern.shape().node;
  const bool backwards = node.stride[0] < 0;
  const int64_t stride = backwards ? -node.stride[0] : node.stride[0];
  TESSERA_TRY(const ByteSet copy, ordered(pattern.part(backwards ? node.count - 1 : 0), budget));
  if (stride == 0) return copy;
  const Pattern& bytes = copy.ascending();
  if (stride >= copy.span().length()) {
    return ByteSet::of_ascending(repeat_in_bounds(bytes, node.count, {{stride}}));
  }
  if (bytes.shape().is_repeat()) {
    // Loop interchange: interleaved copies of strided bytes are strided groups of all copies.
    const Node<1>& inner = *bytes.shape().node;
    TESSERA_TRY(const Pattern group, repeat(bytes.part(0), node.count, {{stride}}));
    if (group.span().length() <= inner.stride[0]) {
      TESSERA_TRY(const ByteSet sorted, ordered(group, budget));
      return ByteSet::of_ascending(repeat_in_bounds(sorted.ascending(), inner.count, inner.stride));
    }
  }
  return unite_copies(copy, node.count, stride, budget);
}

Result<ByteSet> ordered_sequence(const Pattern& pattern, Budget& budget) {
  std::vector<ByteSet> sets;
  for (int64_t i = 0; i < pattern.part_count(); ++i) {
    TESSERA_TRY(ByteSet set, ordered(pattern.part(i), budget));
    sets.push_back(std::move(set));
  }
  std::sort(sets.begin(), sets.end(),
            [](const ByteSet& a, const ByteSet& b) { return a.span().begin < b.span().begin; });
  while (sets.size() > 1) {
    std::vector<ByteSet> pairs;
    for (size_t i = 0; i + 1 < sets.size(); i += 2) {
      TESSERA_TRY(ByteSet both, unite_within(sets[i], sets[i + 1], budget));
      pairs.push_back(std::move(both));
    }
    if (sets.size() % 2 == 1) pairs.push_back(std::move(sets.back()));
    sets = std::move(pairs);
  }
  return sets.front();
}

Result<ByteSet> ordered(const Pattern& pattern, Budget& budget) {
  if (pattern.empty()) return ByteSet{};
  if (pattern.ascending()) return ByteSet::of_ascending(pattern);
  const Node<1>& node = *pattern.shape().node;
  if (pattern.shape().is_repeat()) return ordered_repeat(pattern, budget);
  if (node.item.empty()) return sort_runs(pattern, budget);
  return ordered_sequence(pattern, budget);
}

}  // namespace

Result<ByteSet> ByteSet::of(Interval bytes) {
  if (bytes.end < bytes.begin) {
    return fail(Code::kInvalid, "an interval ends at " + std::to_string(bytes.end) +
                                    " before it begins at " + std::to_string(bytes.begin));
  }
  if (bytes.begin < -kMaxPosition || bytes.end > kMaxPosition) {
    return fail(Code::kInvalid, "an interval leaves the supported range of offsets (2^62 bytes)");
  }
  TESSERA_TRY(Pattern run, Pattern::run({{bytes.begin}}, bytes.end - bytes.begin));
  return ByteSet(std::move(run));
}

Result<ByteSet> ByteSet::of(const Pattern& pattern, Budget budget) {
  Result<ByteSet> set = ordered(pattern, budget);
  if (set || set.error().code != Code::kTooComplex) return set;
  return sort_runs(pattern, budget);
}

ByteSet ByteSet::of_ascending(Pattern pattern) {
  TESSERA_ASSERT(pattern.ascending());
  return ByteSet(std::move(pattern));
}

bool ByteSet::contains(int64_t byte) const { return meets({byte, byte + 1}); }

bool ByteSet::meets(Interval bytes) const {
  return !bytes.empty() && runs_.offset_of(bytes.begin) < runs_.offset_of(bytes.end);
}

bool ByteSet::contains(Interval bytes) const {
  return bytes.empty() ||
         runs_.offset_of(bytes.end) - runs_.offset_of(bytes.begin) == bytes.length();
}

Result<ByteSet> ByteSet::complement(Interval universe, Budget budget) const {
  TESSERA_TRY(const Line line, line_of(*this, universe, 1, 0, budget));
  return bytes_labelled(line, [](Label label) { return label == 0; });
}

Result<ByteSet> ByteSet::shifted(int64_t by) const {
  TESSERA_TRY(Pattern runs, runs_.shifted({{by}}));
  return ByteSet(std::move(runs));
}

Result<ByteSet> intersect(const ByteSet& a, const ByteSet& b, Budget budget) {
  TESSERA_TRY(Pattern both, zip(a.ascending(), b.ascending(), budget));
  return ByteSet::of_ascending(std::move(both));
}

Result<ByteSet> unite_within(const ByteSet& a, const ByteSet& b, Budget& budget) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (!a.span().meets(b.span())) {
    const bool a_first = a.span().begin < b.span().begin;
    Assembler<1> both;
    both.append((a_first ? a : b).ascending());
    both.append((a_first ? b : a).ascending());
    TESSERA_TRY(Pattern runs, both.finish());
    return ByteSet::of_ascending(std::move(runs));
  }
  return combine(
      a, b, [](bool in_a, bool in_b) { return in_a || in_b; }, budget);
}

Result<ByteSet> unite(const ByteSet& a, const ByteSet& b, Budget budget) {
  return unite_within(a, b, budget);
}

Result<ByteSet> subtract(const ByteSet& a, const ByteSet& b, Budget budget) {
  if (a.empty() || !a.span().meets(b.span())) return a;
  return combine(
      a, b.within(a.span()), [](bool in_a, bool in_b) { return in_a && !in_b; }, budget);
}

Result<bool> equal(const ByteSet& a, const ByteSet& b, Budget budget) {
  if (a.size() != b.size() || a.span() != b.span()) return false;
  TESSERA_TRY(const ByteSet both, intersect(a, b, budget));
  return both.size() == a.size();
}

}  // namespace tessera::pattern
