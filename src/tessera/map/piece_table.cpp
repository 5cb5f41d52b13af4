#include "tessera/map/piece_table.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/map/set_union.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/join.hpp"
#include "tessera/pattern/line.hpp"
#include "tessera/pattern/overlap.hpp"
#include "tessera/pattern/transform.hpp"
#include "tessera/pattern/zip.hpp"

namespace tessera::map {

using base::Code;
using base::fail;
using base::Result;
using pattern::Budget;
using pattern::ByteSet;
using pattern::Interval;
using pattern::Join;
using pattern::Pattern;

namespace {

bool is_regular(const Join& pairs) {
  return pairs.shape().is_repeat() && pairs.runs() >= PieceTable::kRegularRuns;
}

MappedRun run_of(const Piece& piece, const pattern::Point<2>& at, int64_t length) {
  return {at[0], length, at[1], piece.epoch, piece.allocation};
}

Piece piece_of(const MappedRun& run) {
  return {run.allocation, run.epoch, Join({{run.begin, run.place}}, {run.length, nullptr})};
}

// The pairs of some of the bytes of a run.
Piece piece_of(const MappedRun& run, const Pattern& bytes) {
  const int64_t distance = run.place - run.begin;
  if (bytes.shape().is_run()) {
    const int64_t begin = bytes.at()[0];
    return {run.allocation, run.epoch, Join({{begin, begin + distance}}, {bytes.size(), nullptr})};
  }
  const Join same = identity(ByteSet::of_ascending(bytes));
  return {run.allocation, run.epoch, Join({{same.at()[0], same.at()[1] + distance}}, same.shape())};
}

// Calls regular(pairs) and run(at, length) for what a piece is stored as: the items of a sequence
// one by one, and what is not regular enough run by run.
template <typename OnRegular, typename OnRun>
void take_apart(const Join& pairs, const OnRegular& regular, const OnRun& run) {
  if (pairs.shape().is_sequence()) {
    for (int64_t i = 0; i < pairs.part_count(); ++i) take_apart(pairs.part(i), regular, run);
  } else if (pairs.shape().is_run()) {
    if (!pairs.empty()) run(pairs.at(), pairs.size());
  } else if (is_regular(pairs)) {
    regular(pairs);
  } else {
    for (const pattern::Piece<2>& part : expand(pairs)) run(part.at, part.length);
  }
}

// `next` joined to a regular piece that it continues, if the whole is still a repetition.
std::optional<Join> continued(const Join& pairs, const Join& next) {
  const pattern::Node<2>& node = *pairs.shape().node;
  if (node.child.is_run() && next.shape().is_run()) {
    if (node.child.size != next.size() || pairs.at() + node.stride * node.count != next.at()) {
      return std::nullopt;
    }
    return repeat_in_bounds(pairs.part(0), node.count + 1, node.stride);
  }
  if (next.shape().is_run()) return std::nullopt;
  pattern::Assembler<2> both;
  both.append(pairs);
  both.append(next);
  const Result<Join> joined = both.finish();
  return joined && is_regular(*joined) ? std::optional(*joined) : std::nullopt;
}

}  // namespace

int64_t PieceTable::end() const {
  int64_t end = runs_.end();
  for (const auto& [number, held] : regular_) end = std::max(end, held.bytes.span().end);
  return end;
}

void PieceTable::count(AllocationId allocation, int64_t bytes) {
  int64_t& live = live_bytes_[allocation];
  live += bytes;
  TESSERA_ASSERT(live >= 0);
  if (live == 0) live_bytes_.erase(allocation);
}

PieceTable::Number PieceTable::insert_regular(Piece piece, ByteSet bytes) {
  const Number number = ++last_number_;
  count(piece.allocation, piece.pairs.size());
  spans_.insert(bytes.span(), number);
  regular_.emplace(number, Regular{std::move(piece), std::move(bytes)});
  return number;
}

void PieceTable::erase_regular(Number number) {
  const auto held = regular_.find(number);
  TESSERA_ASSERT(held != regular_.end());
  count(held->second.piece.allocation, -held->second.bytes.size());
  spans_.erase(held->second.bytes.span(), number);
  regular_.erase(held);
}

void PieceTable::insert_run(const MappedRun& run) {
  count(run.allocation, run.length);
  runs_.insert(run);
}

void PieceTable::erase_run(const MappedRun& run) {
  count(run.allocation, -run.length);
  runs_.erase(run.begin);
}

void PieceTable::insert(const Piece& piece) {
  TESSERA_ASSERT(piece.pairs.ascending());
  epoch_max_ = std::max(epoch_max_, piece.epoch);
  take_apart(
      piece.pairs,
      [&](const Join& pairs) {
        const Piece part = {piece.allocation, piece.epoch, pairs};
        insert_regular(part, bytes_of(part));
      },
      [&](const pattern::Point<2>& at, int64_t length) { insert_run(run_of(piece, at, length)); });
}

void PieceTable::append(const Piece& piece) {
  TESSERA_ASSERT(piece.pairs.ascending());
  if (piece.pairs.empty()) return;
  epoch_max_ = std::max(epoch_max_, piece.epoch);
  Tail& tail = tails_[piece.allocation];
  if (tail.epoch == piece.epoch && tail.regular != 0 && continue_regular(tail, piece)) return;
  if (tail.epoch != piece.epoch) tail = Tail{.epoch = piece.epoch};
  if (piece.pairs.shape().is_run()) return append_run(tail, piece);
  tail = Tail{.epoch = piece.epoch};
  if (is_regular(piece.pairs)) {
    tail.regular = insert_regular(piece, bytes_of(piece));
  } else {
    insert(piece);
  }
}

bool PieceTable::continue_regular(Tail& tail, const Piece& piece) {
  const auto found = regular_.find(tail.regular);
  if (found == regular_.end()) return false;
  Regular& held = found->second;
  if (held.bytes.span().end > piece.pairs.at()[0]) return false;
  std::optional<Join> joined = continued(held.piece.pairs, piece.pairs);
  if (!joined) return false;
  count(piece.allocation, piece.pairs.size());
  spans_.erase(held.bytes.span(), tail.regular);
  held.piece.pairs = *std::move(joined);
  held.bytes = bytes_of(held.piece);
  spans_.insert(held.bytes.span(), tail.regular);
  return true;
}

void PieceTable::append_run(Tail& tail, const Piece& piece) {
  const MappedRun run = run_of(piece, piece.pairs.at(), piece.pairs.size());
  const pattern::Point<2> distance = {{run.begin - tail.run.begin, run.place - tail.run.place}};
  const bool alike = tail.times > 0 && run.length == tail.run.length && distance[0] > run.length;
  if (alike && tail.times > 1 && distance == tail.distance) {
    ++tail.times;
  } else {
    tail.times = alike ? 2 : 1;
    tail.distance = distance;
  }
  tail.regular = 0;
  tail.run = run;
  insert_run(run);
  if (tail.times == kRegularRuns) make_regular(tail);
}

// The last runs become one repetition, unless something has happened to them in the meantime.
void PieceTable::make_regular(Tail& tail) {
  std::vector<MappedRun> runs;
  for (int64_t i = kRegularRuns - 1; i >= 0; --i) {
    MappedRun run = tail.run;
    run.begin -= i * tail.distance[0];
    run.place -= i * tail.distance[1];
    const RunTable::Position at = runs_.first_ending_after(run.begin);
    if (runs_.is_end(at) || runs_[at] != run) {
      tail.times = 1;
      return;
    }
    runs.push_back(run);
  }
  for (const MappedRun& run : runs) erase_run(run);
  const Piece first = piece_of(runs.front());
  const Join all = repeat_in_bounds(first.pairs, kRegularRuns, tail.distance);
  tail.times = 0;
  const Piece regular = {first.allocation, first.epoch, all};
  tail.regular = insert_regular(regular, bytes_of(regular));
}

// Calls visit(run, bytes of the request in it). Where the request is sparser than the runs it is
// looked up in them, and the other way round.
template <typename Visit>
void PieceTable::for_each_run_meeting(const ByteSet& request, Visit visit) const {
  const Pattern& wanted = request.ascending();
  const Interval span = request.span();
  for (auto at = runs_.first_ending_after(span.begin);
       !runs_.is_end(at) && runs_[at].begin < span.end;) {
    const MappedRun& run = runs_[at];
    const int64_t first = wanted.offset_of(run.begin);
    const int64_t behind = wanted.offset_of(run.end());
    if (behind - first == run.length) {
      visit(run, Pattern({{run.begin}}, {run.length, nullptr}));
    } else if (first < behind) {
      visit(run, wanted.clip({first, behind}));
    }
    if (behind == wanted.size()) return;
    const int64_t next_byte = wanted.position(behind)[0];
    at = runs_.next(at);
    if (!runs_.is_end(at) && runs_[at].end() <= next_byte) {
      at = runs_.first_ending_after(next_byte);
    }
  }
}

bool PieceTable::meets_runs(const ByteSet& bytes) const {
  bool met = false;
  for_each_run_meeting(bytes, [&](const MappedRun&, const Pattern&) { met = true; });
  return met;
}

Result<std::vector<Piece>> PieceTable::meeting(const ByteSet& request, Budget budget) const {
  budget.steps += static_cast<int64_t>(regular_.size());
  return meeting_within(request, budget);
}

Result<std::vector<Piece>> PieceTable::meeting_within(const ByteSet& request,
                                                      Budget& budget) const {
  std::vector<Piece> found;
  if (request.empty()) return found;
  std::vector<Number> numbers;
  spans_.for_each(request.span(), [&](Number number) { numbers.push_back(number); });
  for (const Number number : numbers) {
    const Regular& held = regular_.at(number);
    if (--budget.steps < 0) return fail(Code::kTooComplex, "a request meets too many mappings");
    const Result<bool> met = overlaps(held.bytes, request, {budget.steps, 0});
    if (met && !*met) continue;
    TESSERA_TRY(Join pairs, zip(held.piece.pairs, request.ascending(), budget));
    if (pairs.empty()) continue;
    found.push_back({held.piece.allocation, held.piece.epoch, std::move(pairs)});
  }
  std::sort(found.begin(), found.end(), begins_before);
  const auto regular = static_cast<std::ptrdiff_t>(found.size());
  for_each_run_meeting(request, [&](const MappedRun& run, const Pattern& bytes) {
    found.push_back(piece_of(run, bytes));
  });
  if (regular > 0) {
    std::inplace_merge(found.begin(), found.begin() + regular, found.end(), begins_before);
  }
  return found;
}

Result<void> PieceTable::plan_cut_of_regular(const ByteSet& bytes, Budget budget,
                                             Change& change) const {
  std::vector<Number> numbers;
  spans_.for_each(bytes.span(), [&](Number number) { numbers.push_back(number); });
  // However many pieces there are, one run can be cut out of all of them.
  constexpr int64_t kStepsPerPiece = 4;
  budget.steps += kStepsPerPiece * std::ssize(numbers);
  for (const Number number : numbers) {
    const Regular& held = regular_.at(number);
    const Interval span = held.bytes.span();
    if (bytes.contains(span)) {
      change.regular_out.push_back(number);
      continue;
    }
    const Result<bool> met = overlaps(held.bytes, bytes, {budget.steps, 0});
    if (met && !*met) continue;
    TESSERA_TRY(const ByteSet others, bytes.within(span).complement(span, budget));
    TESSERA_TRY(Join rest, restrict(held.piece.pairs, others, budget));
    if (rest.size() == held.bytes.size()) continue;
    change.regular_out.push_back(number);
    if (!rest.empty()) {
      change.in.push_back({held.piece.allocation, held.piece.epoch, std::move(rest)});
    }
  }
  return {};
}

Result<void> PieceTable::plan_cut_of_runs(const ByteSet& bytes, Budget budget,
                                          Change& change) const {
  Result<void> verdict;
  for_each_run_meeting(bytes, [&](const MappedRun& run, const Pattern& out) {
    if (!verdict) return;
    change.runs_out.push_back(run);
    if (out.size() == run.length) return;
    const Interval hole = out.span();
    if (out.shape().is_run()) {
      const Interval before = {run.begin, hole.begin};
      const Interval after = {hole.end, run.end()};
      for (const Interval rest : {before, after}) {
        if (rest.empty()) continue;
        change.in.push_back(piece_of(run, Pattern({{rest.begin}}, {rest.length(), nullptr})));
      }
      return;
    }
    const Result<ByteSet> rest = ByteSet::of_ascending(out).complement(run.bytes(), budget);
    if (rest) {
      change.in.push_back(piece_of(run, rest->ascending()));
    } else {
      verdict = base::failure_of(rest);
    }
  });
  return verdict;
}

Result<void> PieceTable::cut(const ByteSet& bytes, Budget budget) {
  if (bytes.empty() || empty()) return {};
  Change change;
  TESSERA_TRY_VOID(plan_cut_of_regular(bytes, budget, change));
  TESSERA_TRY_VOID(plan_cut_of_runs(bytes, budget, change));
  for (const Number number : change.regular_out) erase_regular(number);
  for (const MappedRun& run : change.runs_out) erase_run(run);
  for (const Piece& piece : change.in) insert(piece);
  return {};
}

void PieceTable::renumber(const std::function<AllocationId(AllocationId)>& number) {
  std::map<AllocationId, AllocationId> numbers;
  std::map<AllocationId, int64_t> live_bytes;
  for (const auto& [allocation, bytes] : live_bytes_) {
    const AllocationId renumbered = number(allocation);
    numbers[allocation] = renumbered;
    TESSERA_ASSERT(live_bytes.emplace(renumbered, bytes).second);
  }
  runs_.change_all([&](MappedRun& run) { run.allocation = numbers.at(run.allocation); });
  for (auto& [ignored, held] : regular_) {
    held.piece.allocation = numbers.at(held.piece.allocation);
  }
  live_bytes_ = std::move(live_bytes);
  tails_.clear();
}

void PieceTable::for_each(const std::function<void(const Piece&)>& visit) const {
  for (auto at = runs_.first(); !runs_.is_end(at); at = runs_.next(at)) visit(piece_of(runs_[at]));
  for (const auto& [number, held] : regular_) visit(held.piece);
}

int64_t PieceTable::piece_count() const {
  return runs_.size() + static_cast<int64_t>(regular_.size());
}

int64_t PieceTable::run_count() const {
  int64_t runs = runs_.size();
  for (const auto& [number, held] : regular_) runs += held.piece.pairs.runs();
  return runs;
}

int64_t PieceTable::memory_bytes() const {
  constexpr auto kEntryBytes = static_cast<int64_t>(sizeof(Regular) + 4 * sizeof(void*));
  int64_t bytes = runs_.memory_bytes() + static_cast<int64_t>(spans_.memory_bytes());
  for (const auto& [number, held] : regular_) {
    bytes += kEntryBytes + held.piece.pairs.memory_bytes() + held.bytes.ascending().memory_bytes();
  }
  return bytes;
}

void PieceTable::check_invariants() const {
  std::map<AllocationId, int64_t> live;
  int64_t end = 0;
  for (auto at = runs_.first(); !runs_.is_end(at); at = runs_.next(at)) {
    TESSERA_ASSERT(runs_[at].begin >= end && runs_[at].length > 0 && runs_[at].place >= 0);
    end = runs_[at].end();
    live[runs_[at].allocation] += runs_[at].length;
  }
  for (const auto& [number, held] : regular_) {
    TESSERA_ASSERT(is_regular(held.piece.pairs) && held.piece.pairs.ascending());
    TESSERA_ASSERT(held.bytes.size() == held.piece.pairs.size());
    live[held.piece.allocation] += held.bytes.size();
    TESSERA_ASSERT(!meets_runs(held.bytes));
    for (const auto& [other, others] : regular_) {
      if (other == number) continue;
      const Result<bool> both = overlaps(held.bytes, others.bytes);
      TESSERA_ASSERT(!both || !*both);
    }
  }
  TESSERA_ASSERT(live == live_bytes_);
}

namespace {

// The bytes of pairs, for many that may share shapes.
class Sides {
 public:
  ByteSet operator()(const Join& pairs) { return ByteSet::of_ascending(transformer_(pairs)); }

 private:
  struct First {
    pattern::Point<1> operator()(const pattern::Point<2>& point) const { return {{point[0]}}; }
  };
  pattern::Transformer<1, 2, First> transformer_{First{}};
};

base::Failure two_mappings() {
  return fail(Code::kIntegrity, "two mappings of a file map show the same byte");
}

Result<void> check_bounds(const Piece& piece) {
  const Interval bytes = piece.pairs.span(0);
  if (piece.pairs.ascending() && bytes.begin >= 0 && bytes.end <= pattern::kMaxLine &&
      piece.pairs.span(1).begin >= 0) {
    return {};
  }
  return fail(Code::kIntegrity, "a mapping of a file map descends in the file or leaves it");
}

// Sorts runs by their begins. Fails if two of them overlap.
Result<void> sort_disjoint(std::vector<MappedRun>& runs) {
  const auto by_begin = [](const MappedRun& a, const MappedRun& b) { return a.begin < b.begin; };
  if (!std::is_sorted(runs.begin(), runs.end(), by_begin)) {
    std::sort(runs.begin(), runs.end(), by_begin);
  }
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i - 1].end() > runs[i].begin) return two_mappings();
  }
  return {};
}

}  // namespace

// Whether two sets overlap can be told where their union would be too large to build.
Result<void> PieceTable::check_pairs(Budget& budget) const {
  constexpr int64_t kRunsPerPair = 1024;
  constexpr Budget kPair = {1 << 16, 1 << 20};
  for (const auto& [number, held] : regular_) {
    std::vector<const Regular*> others;
    const Number first = number;
    spans_.for_each(held.bytes.span(), [&](Number other) {
      if (other > first) others.push_back(&regular_.at(other));
    });
    budget.steps -= 1 + static_cast<int64_t>(others.size()) + runs_.size() / kRunsPerPair;
    if (budget.steps < 0) {
      return fail(Code::kTooComplex, "too many mappings of a file map interleave irregularly");
    }
    for (const Regular* other : others) {
      const Budget before = {std::min(kPair.steps, budget.steps),
                             std::min(kPair.max_runs, budget.max_runs)};
      Budget left = before;
      TESSERA_TRY(const bool both, overlaps_within(held.bytes, other->bytes, left));
      budget.steps -= before.steps - left.steps;
      budget.max_runs -= before.max_runs - left.max_runs;
      if (both) return two_mappings();
    }
    if (meets_runs(held.bytes)) return two_mappings();
  }
  return {};
}

Result<PieceTable> PieceTable::of(std::span<const Piece> pieces, Origin origin, Budget& checks) {
  PieceTable table;
  std::vector<MappedRun> runs;
  std::vector<ByteSet> sets;
  int64_t regular_bytes = 0;
  Sides sides;
  for (const Piece& piece : pieces) {
    TESSERA_TRY_VOID(check_bounds(piece));
    table.epoch_max_ = std::max(table.epoch_max_, piece.epoch);
    take_apart(
        piece.pairs,
        [&](const Join& pairs) {
          sets.push_back(sides(pairs));
          regular_bytes += pairs.size();
          table.insert_regular({piece.allocation, piece.epoch, pairs}, sets.back());
        },
        [&](const pattern::Point<2>& at, int64_t length) {
          runs.push_back(run_of(piece, at, length));
        });
    if (regular_bytes > pattern::kMaxLine) return two_mappings();
  }
  TESSERA_TRY_VOID(sort_disjoint(runs));
  for (const MappedRun& run : runs) table.count(run.allocation, run.length);
  table.runs_ = RunTable(runs);
  if (origin == Origin::kChecked) return table;
  // Disjoint sets are as large as their union. A part of the budget is left for telling by pairs.
  const Budget before = {checks.steps / 4, checks.max_runs / 4};
  Budget left = before;
  const Result<ByteSet> united = unite_all_within(std::move(sets), left);
  checks.steps -= before.steps - left.steps;
  checks.max_runs -= before.max_runs - left.max_runs;
  if (united) {
    if (united->size() != regular_bytes || table.meets_runs(*united)) return two_mappings();
  } else {
    TESSERA_TRY_VOID(table.check_pairs(checks));
  }
  return table;
}

}  // namespace tessera::map
