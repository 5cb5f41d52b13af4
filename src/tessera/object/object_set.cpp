#include "tessera/object/object_set.hpp"

#include <array>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::object {

using base::Code;
using base::fail;
using base::Result;
using pattern::ByteSet;
using pattern::Interval;
using pattern::Label;
using pattern::Line;

namespace {

SharersId sharers_of(Label label) { return static_cast<SharersId>(label); }

bool somebody(Label label) { return label != kNobody; }

base::Failure second_view_of(Process process) {
  return fail(Code::kInvalid, "process " + std::to_string(process) + " has a view already");
}

std::string process_pair(std::span<const Process> sharers) {
  return "processes " + std::to_string(sharers[0]) + " and " + std::to_string(sharers[1]);
}

}  // namespace

ObjectSet::ObjectSet(Interval range) : range_(range) {
  TESSERA_ASSERT(range.begin >= 0 && range.begin <= range.end && range.end < pattern::kMaxLine);
  line_ = pattern::uniform_line(range, kNobody);
}

Result<ObjectSet> ObjectSet::of(Interval range, std::span<const ByteSet> views,
                                pattern::Budget budget) {
  std::vector<ProcessView> numbered;
  for (const ByteSet& view : views) {
    numbered.push_back({base::exact_cast<Process>(numbered.size()), view});
  }
  return of(range, numbered, budget);
}

Result<ObjectSet> ObjectSet::of(Interval range, std::span<const ProcessView> views,
                                pattern::Budget budget) {
  ObjectSet set(range);
  if (views.empty()) return set;
  pattern::Budget laying = budget;
  TESSERA_TRY(const Group all, set.group(views, budget, laying));
  set.replace(all.hull, all.line);
  return set;
}

Result<ObjectSet::Group> ObjectSet::group(std::span<const ProcessView> views,
                                          pattern::Budget budget, pattern::Budget& laying) {
  if (views.size() == 1) {
    const auto& [process, bytes] = views[0];
    const ByteSet seen = bytes.within(range_);
    if (!spans_.emplace(process, seen.span()).second) return second_view_of(process);
    const SharersId alone = sharers_.with(kNobody, process);
    TESSERA_TRY(Line line, line_of(seen, seen.span(), alone, kNobody, laying));
    return Group{seen.span(), std::move(line)};
  }
  const size_t half = views.size() / 2;
  TESSERA_TRY(const Group left, group(views.first(half), budget, laying));
  TESSERA_TRY(const Group right, group(views.subspan(half), budget, laying));
  return merge(left, right, budget);
}

Result<ObjectSet::Group> ObjectSet::merge(const Group& a, const Group& b, pattern::Budget budget) {
  if (a.hull.empty()) return b;
  if (b.hull.empty()) return a;
  const Group& first = a.hull.begin <= b.hull.begin ? a : b;
  const Group& last = a.hull.end > b.hull.end ? a : b;
  const Interval hull = {first.hull.begin, last.hull.end};
  const Interval both = common(a.hull, b.hull);
  pattern::Assembler<2> line;
  line.append(first.line.within({hull.begin, both.begin}));
  if (both.empty()) {
    line.append(pattern::uniform_line({both.end, both.begin}, kNobody));
    line.append(last.line);
  } else {
    TESSERA_TRY(const Line shared, overlay(a.line.within(both), b.line.within(both), budget));
    line.append(shared);
    line.append(last.line.within({both.end, hull.end}));
  }
  return Group{hull, line.finish_in_bounds()};
}

Result<Line> ObjectSet::overlay(const Line& a, const Line& b, pattern::Budget budget) {
  // Regular views unite the same few pairs of large sets in each run; irregular ones new pairs.
  struct Union {
    Label x = kNobody;
    Label y = kNobody;
    SharersId both = kNobody;
  };
  std::array<Union, 256> known;
  const auto united = [&](Label x, Label y) -> Label {
    Union& last = known[static_cast<size_t>(31 * x + y) % known.size()];
    if (last.x != x || last.y != y) {
      last = {x, y, sharers_.united(sharers_of(x), sharers_of(y))};
    }
    return last.both;
  };
  TESSERA_TRY(Line both, pattern::overlay(a, b, united, budget));
  if (sharers_.full()) {
    return fail(Code::kTooComplex, "the sets of sharers of these views take more than 256 MiB");
  }
  return both;
}

Result<void> ObjectSet::add(Process process, const ByteSet& view, pattern::Budget budget) {
  if (spans_.count(process) != 0) return second_view_of(process);
  const ByteSet seen = view.within(range_);
  const Interval span = seen.span();
  if (!seen.empty()) {
    const SharersId alone = sharers_.with(kNobody, process);
    TESSERA_TRY(const Line mine, line_of(seen, span, alone, kNobody, budget));
    TESSERA_TRY(const Line refined, overlay(line_.within(span), mine, budget));
    replace(span, refined);
  }
  spans_.emplace(process, span);
  return {};
}

Result<void> ObjectSet::drop(Process process) {
  const auto place = spans_.find(process);
  if (place == spans_.end()) {
    return fail(Code::kNotFound, "process " + std::to_string(process) + " has no view");
  }
  const Interval span = place->second;
  spans_.erase(place);
  if (!span.empty()) {
    replace(span, relabel(line_.within(span), [&](Label label) {
              return Label{sharers_.without(sharers_of(label), process)};
            }));
  }
  return {};
}

void ObjectSet::replace(Interval part, const Line& refined) {
  pattern::Assembler<2> line;
  line.append(line_.within({range_.begin, part.begin}));
  line.append(refined);
  line.append(line_.within({part.end, range_.end}));
  line_ = line.finish_in_bounds();
}

std::vector<Process> ObjectSet::processes() const {
  std::vector<Process> result;
  for (const auto& [process, span] : spans_) result.push_back(process);
  return result;
}

void ObjectSet::for_each_meeting(Interval bytes,
                                 const std::function<bool(const Object&)>& visit) const {
  const Interval wanted = common(bytes, range_);
  if (wanted.empty()) return;
  // The line has no gaps, so the stream offset of a byte is its distance from the beginning.
  pattern::Cursor<2> cursor(line_, line_.run_at(wanted.begin - range_.begin).begin);
  pattern::Piece<2> piece;
  while (cursor.next_pieces({&piece, 1}) == 1 && piece.at[0] < wanted.end) {
    const Object object = {{piece.at[0], piece.at[0] + piece.length},
                           sharers_of(piece.at[1] - piece.at[0])};
    if (object.sharers != kNobody && !visit(object)) return;
  }
}

std::vector<Object> ObjectSet::meeting(Interval bytes) const {
  std::vector<Object> objects;
  for_each_meeting(bytes, [&objects](const Object& object) {
    objects.push_back(object);
    return true;
  });
  return objects;
}

std::vector<Family> ObjectSet::families() const {
  std::vector<Family> result;
  for (auto& [label, bytes] : sets_by_label(line_, somebody)) {
    result.push_back({bytes, sharers_of(label)});
  }
  std::sort(result.begin(), result.end(), [](const Family& a, const Family& b) {
    return a.bytes.span().begin < b.bytes.span().begin;
  });
  return result;
}

std::vector<Family> ObjectSet::families_of(Process process) const {
  std::vector<Family> result = families();
  std::erase_if(result, [&](const Family& family) {
    const auto all = sharers(family.sharers);
    return !std::binary_search(all.begin(), all.end(), process);
  });
  return result;
}

std::vector<Conflict> ObjectSet::conflicts() const {
  std::map<std::pair<Process, Process>, Conflict> pairs;
  for (const Family& family : families()) {
    const auto all = sharers(family.sharers);
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j) {
        Conflict& conflict = pairs[{all[i], all[j]}];
        conflict.first = all[i];
        conflict.second = all[j];
        conflict.size_bytes += family.bytes.size();
        conflict.object_count += family.object_count();
      }
    }
  }
  std::vector<Conflict> result;
  for (const auto& [processes, conflict] : pairs) result.push_back(conflict);
  return result;
}

Result<void> ObjectSet::require_disjoint() const {
  for (const Family& family : families()) {
    if (!is_shared(family.sharers)) continue;
    return fail(Code::kInvalid,
                "views that must be disjoint overlap: " + process_pair(sharers(family.sharers)) +
                    " share byte " + std::to_string(family.bytes.span().begin));
  }
  return {};
}

int64_t ObjectSet::object_count() const {
  int64_t count = 0;
  for (const Family& family : families()) count += family.object_count();
  return count;
}

int64_t ObjectSet::shared_object_count() const {
  int64_t count = 0;
  for (const Family& family : families()) {
    if (is_shared(family.sharers)) count += family.object_count();
  }
  return count;
}

int64_t ObjectSet::memory_bytes() const { return line_.memory_bytes() + sharers_.memory_bytes(); }

}  // namespace tessera::object
