#include "tessera/map/set_union.hpp"

#include <algorithm>

#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::map {

using base::Result;
using pattern::Budget;
using pattern::ByteSet;
using pattern::Run;

namespace {

// What every union may spend, however many share a budget.
constexpr int64_t kStepsMin = 64;

// Takes what it used out of `left`, which was the budget before.
Result<ByteSet> unite_rounds(std::vector<ByteSet> sets, const Budget& budget, Budget& left) {
  while (sets.size() > 1) {
    const auto pairs = static_cast<int64_t>(sets.size() / 2);
    const Budget share = {budget.steps / pairs + kStepsMin, budget.max_runs / pairs};
    std::vector<ByteSet> united;
    for (size_t i = 0; i + 1 < sets.size(); i += 2) {
      Budget each = share;
      Result<ByteSet> both = unite_within(sets[i], sets[i + 1], each);
      left.steps -= std::min(left.steps, share.steps - std::max<int64_t>(0, each.steps));
      left.max_runs -= std::min(left.max_runs, share.max_runs - each.max_runs);
      if (!both) return both;
      united.push_back(*std::move(both));
    }
    if (sets.size() % 2 == 1) united.push_back(std::move(sets.back()));
    sets = std::move(united);
  }
  return sets.empty() ? ByteSet{} : std::move(sets.front());
}

}  // namespace

ByteSet bytes_of(const Piece& piece) {
  if (piece.pairs.shape().is_run()) {
    return ByteSet::of_ascending(
        pattern::Pattern({{piece.pairs.at()[0]}}, {piece.pairs.size(), nullptr}));
  }
  return ByteSet::of_ascending(side(piece.pairs, 0));
}

Result<ByteSet> set_of_runs(std::vector<Run> runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
  pattern::Assembler<1> sorted;
  int64_t end = -pattern::kMaxPosition;
  for (const Run& run : runs) {
    const pattern::Interval fresh = {std::max(end, run.begin), run.begin + run.length};
    if (fresh.empty()) continue;
    sorted.append_run({{fresh.begin}}, fresh.length());
    end = fresh.end;
  }
  TESSERA_TRY(pattern::Pattern listed, sorted.finish());
  return ByteSet::of_ascending(std::move(listed));
}

Result<ByteSet> unite_all(std::vector<ByteSet> sets, Budget budget) {
  return unite_all_within(std::move(sets), budget);
}

Result<ByteSet> unite_all_within(std::vector<ByteSet> sets, Budget& budget) {
  const Budget before = budget;
  std::sort(sets.begin(), sets.end(),
            [](const ByteSet& a, const ByteSet& b) { return a.span().begin < b.span().begin; });
  Result<ByteSet> united = unite_rounds(sets, before, budget);
  if (united || united.error().code != base::Code::kTooComplex) return united;
  std::vector<Run> runs;
  for (const ByteSet& set : sets) {
    if (set.runs() > before.max_runs - static_cast<int64_t>(runs.size())) return united;
    for (const pattern::Piece<1>& run : expand(set.ascending())) {
      runs.push_back({run.at[0], run.length});
    }
  }
  budget.max_runs -= std::min(budget.max_runs, static_cast<int64_t>(runs.size()));
  return set_of_runs(std::move(runs));
}

Result<ByteSet> bytes_of_all(std::span<const Piece> pieces, Budget budget) {
  pattern::Assembler<1> runs;
  std::vector<ByteSet> sets;
  for (const Piece& piece : pieces) {
    if (piece.pairs.shape().is_run()) {
      runs.append_run({{piece.pairs.at()[0]}}, piece.pairs.size());
    } else {
      sets.push_back(bytes_of(piece));
    }
  }
  TESSERA_TRY(pattern::Pattern listed, runs.finish());
  if (!listed.empty()) sets.push_back(ByteSet::of_ascending(std::move(listed)));
  return unite_all(std::move(sets), budget);
}

}  // namespace tessera::map
