#include "tessera/pattern/line.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/zip.hpp"

namespace tessera::pattern {

using base::Result;

namespace {

// Lays a set over a domain: its bytes and the gaps between them.
class LineMaker {
 public:
  LineMaker(Label inside, Label outside) : inside_(inside), outside_(outside) {}

  // Requires that the trace ascends and lies in the domain.
  void lay(const Pattern& trace, Interval domain, Assembler<2>& out) const {
    if (trace.empty()) {
      append(domain, outside_, out);
    } else if (trace.shape().is_run()) {
      append({domain.begin, trace.span().begin}, outside_, out);
      append(trace.span(), inside_, out);
      append({trace.span().end, domain.end}, outside_, out);
    } else if (trace.shape().is_repeat()) {
      lay_repeat(trace, domain, out);
    } else {
      lay_sequence(trace, domain, out);
    }
  }

 private:
  static void append(Interval bytes, Label label, Assembler<2>& out) {
    if (!bytes.empty()) out.append_run({{bytes.begin, bytes.begin + label}}, bytes.length());
  }

  // The first copy is laid once and serves as all of them.
  void lay_repeat(const Pattern& trace, Interval domain, Assembler<2>& out) const {
    const Node<1>& node = *trace.shape().node;
    const int64_t begin = trace.at()[0];
    const int64_t stride = node.stride[0];
    const int64_t length = node.child.hull(0).end;
    append({domain.begin, begin}, outside_, out);
    Assembler<2> first;
    lay(trace.part(0), {begin, begin + length}, first);
    const Line laid = first.finish_in_bounds();
    Assembler<2> copy;
    copy.append(laid);
    append({begin + length, begin + stride}, outside_, copy);
    out.append(repeat_in_bounds(copy.finish_in_bounds(), node.count - 1, {{stride, stride}}));
    const int64_t last = stride * (node.count - 1);
    out.append(Line(laid.at() + Point<2>{{last, last}}, laid.shape()));
    append({begin + last + length, domain.end}, outside_, out);
  }

  void lay_sequence(const Pattern& trace, Interval domain, Assembler<2>& out) const {
    Interval rest = domain;
    for (int64_t i = 0; i < trace.part_count(); ++i) {
      const bool last = i + 1 == trace.part_count();
      const int64_t end = last ? domain.end : trace.part(i + 1).at()[0];
      lay(trace.part(i), {rest.begin, end}, out);
      rest.begin = end;
    }
  }

  Label inside_;
  Label outside_;
};

// What the line of any set may take: a few levels of nesting are nothing.
constexpr int64_t kItemsAnyway = int64_t{1} << 20;
constexpr int64_t kItemsPerItem = 16;

// How many items the line of a shape has at most, each with the gap behind it; more than the limit
// if it may have more than that. Cost: O(limit).
int64_t items_on_line(const Shape<1>& shape, int64_t limit) {
  if (shape.is_run()) return 2;
  const Node<1>& node = *shape.node;
  if (shape.is_repeat()) return std::min(limit, 2 * items_on_line(node.child, limit)) + 2;
  if (node.item.empty()) return 2 * node.item_count();
  int64_t items = 0;
  for (size_t i = 0; i < node.at.size() && items <= limit; ++i) {
    items += items_on_line(node.item_shape(i), limit);
  }
  return items;
}

// What the line of a set may take because the set takes as much; shapes that it shares count once.
int64_t items_free(const Pattern& set) {
  constexpr int64_t kItemBytes = sizeof(Point<1>) + sizeof(int64_t);
  const int64_t anyway = std::min(kItemsPerItem * set.shape().weight(), kItemsAnyway);
  return std::max(anyway, 3 * set.memory_bytes() / kItemBytes);
}

// Takes out of the budget what the line costs beyond what is free.
Result<void> spend_on_line(const Pattern& set, Budget& budget) {
  // So flat, an item of the set is less than kItemsPerItem of its line.
  constexpr int kFlat = 4;
  if (set.shape().depth() <= kFlat && set.shape().weight() <= kItemsAnyway / kItemsPerItem) {
    return {};
  }
  const int64_t free = items_free(set);
  const int64_t items = items_on_line(set.shape(), std::max(free, budget.steps));
  if (items <= free) return {};
  if (items <= budget.steps) {
    budget.steps -= items;
    return {};
  }
  if (set.runs() > budget.max_runs) {
    return base::fail(base::Code::kTooComplex,
                      "a set of " + std::to_string(set.runs()) + " runs that are nested " +
                          std::to_string(set.shape().depth()) +
                          " levels deep is too complex to be told from its gaps");
  }
  budget.max_runs -= set.runs();
  return {};
}

// Whether all copies of a repetition have the labels of the first. Labels that happen to form an
// arithmetic progression are recognised as a repetition too, with a different label each time.
template <int D>
bool keeps_labels(const Trace<D>& trace) {
  if (!trace.shape().is_repeat()) return false;
  const Point<D>& stride = trace.shape().node->stride;
  for (int d = 1; d < D; ++d) {
    if (stride[d] != stride[0]) return false;
  }
  return true;
}

// A trace of labelled bytes (the first coordinate; labels are the distances of the others to it)
// with every run replaced by what `leaf` appends for it.
template <int To, int From, typename Leaf>
void rebuild(const Trace<From>& trace, const Leaf& leaf, Assembler<To>& out) {
  if (trace.empty()) return;
  if (trace.shape().is_run()) {
    leaf(trace, out);
    return;
  }
  if (!keeps_labels(trace)) {
    for (int64_t i = 0; i < trace.part_count(); ++i) rebuild<To>(trace.part(i), leaf, out);
    return;
  }
  const Node<From>& node = *trace.shape().node;
  Assembler<To> copy;
  rebuild<To>(trace.part(0), leaf, copy);
  Point<To> stride;
  for (int d = 0; d < To; ++d) stride[d] = node.stride[0];
  out.append(repeat_in_bounds(copy.finish_in_bounds(), node.count, stride));
}

Label label_of(const Line& run) { return run.at()[1] - run.at()[0]; }

// By hash: irregular views make as many labels as runs, and each run looks up one.
using Assemblers = std::unordered_map<Label, Assembler<1>>;

void collect(const Line& line, const std::function<bool(Label)>& chosen, Assemblers& out) {
  if (line.shape().is_run()) {
    if (chosen(label_of(line))) out[label_of(line)].append_run({{line.at()[0]}}, line.size());
    return;
  }
  if (!keeps_labels(line)) {
    for (int64_t i = 0; i < line.part_count(); ++i) collect(line.part(i), chosen, out);
    return;
  }
  const Node<2>& node = *line.shape().node;
  Assemblers copy;
  collect(line.part(0), chosen, copy);
  for (auto& [label, assembler] : copy) {
    const Pattern bytes = assembler.finish_in_bounds();
    out[label].append(repeat_in_bounds(bytes, node.count, {{node.stride[0]}}));
  }
}

}  // namespace

Line uniform_line(Interval domain, Label label) {
  Assembler<2> line;
  if (!domain.empty()) line.append_run({{domain.begin, domain.begin + label}}, domain.length());
  return line.finish_in_bounds();
}

Result<Line> line_of(const ByteSet& set, Interval domain, Label inside, Label outside,
                     Budget& budget) {
  if (domain.empty()) return Line();
  const Pattern bytes = set.within(domain).ascending();
  TESSERA_TRY_VOID(spend_on_line(bytes, budget));
  Assembler<2> line;
  LineMaker(inside, outside).lay(bytes, domain, line);
  return line.finish_in_bounds();
}

Result<Line> overlay(const Line& a, const Line& b, const std::function<Label(Label, Label)>& label,
                     Budget& budget) {
  TESSERA_TRY(const Trace<3> both, zip(a, b, budget));
  Assembler<2> out;
  rebuild<2>(
      both,
      [&label](const Trace<3>& run, Assembler<2>& leaf) {
        const int64_t byte = run.at()[0];
        const Label merged = label(run.at()[1] - byte, run.at()[2] - byte);
        leaf.append_run({{byte, byte + merged}}, run.size());
      },
      out);
  return out.finish_in_bounds();
}

Line relabel(const Line& line, const std::function<Label(Label)>& label) {
  Assembler<2> out;
  rebuild<2>(
      line,
      [&label](const Line& run, Assembler<2>& leaf) {
        leaf.append_run({{run.at()[0], run.at()[0] + label(label_of(run))}}, run.size());
      },
      out);
  return out.finish_in_bounds();
}

ByteSet bytes_labelled(const Line& line, const std::function<bool(Label)>& chosen) {
  Assembler<1> out;
  rebuild<1>(
      line,
      [&chosen](const Line& run, Assembler<1>& leaf) {
        if (chosen(label_of(run))) leaf.append_run({{run.at()[0]}}, run.size());
      },
      out);
  return ByteSet::of_ascending(out.finish_in_bounds());
}

std::map<Label, ByteSet> sets_by_label(const Line& line, const std::function<bool(Label)>& chosen) {
  Assemblers assemblers;
  if (!line.empty()) collect(line, chosen, assemblers);
  std::map<Label, ByteSet> sets;
  for (auto& [label, assembler] : assemblers) {
    sets.emplace(label, ByteSet::of_ascending(assembler.finish_in_bounds()));
  }
  return sets;
}

}  // namespace tessera::pattern
