// Lines: a whole file range in which every byte has a label.
//
// A line is a Trace<2> that covers its domain without a gap: the first coordinate is the byte, the
// second is byte + label. So bytes of one label that follow each other form one run by (T1), and
// the join, clipping and recognition of traces serve labels too. Set algebra (byte_set.hpp) and
// object sets (object/) are both: zip two lines, then relabel. Labels lie in [0, kMaxLabel]. Thread
// safety: values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "tessera/base/result.hpp"
#include "tessera/pattern/budget.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

using Line = Trace<2>;
using Label = int64_t;

inline constexpr Label kMaxLabel = int64_t{1} << 32;
// A line's domain lies in [-kMaxLine, kMaxLine], which leaves room for labels below kMaxPosition.
inline constexpr int64_t kMaxLine = kMaxPosition - 2 * kMaxLabel;

// The line of `domain` in which all bytes have one label.
[[nodiscard]] Line uniform_line(Interval domain, Label label);

// The line of `domain` in which the bytes of `set` have one label and all others another. The last
// copy of a repetition has another gap behind it than those before, so that each level of nesting
// doubles what the line is made of: past what the set itself takes that is paid from the budget,
// and fails with kTooComplex; see Budget. Cost: O(items of the line).
[[nodiscard]] base::Result<Line> line_of(const ByteSet& set, Interval domain, Label inside,
                                         Label outside, Budget& budget);

// Two lines laid over each other: every byte gets label(label in a, label in b). Bytes outside
// either domain are dropped. Fails with kTooComplex; see Budget.
[[nodiscard]] base::Result<Line> overlay(const Line& a, const Line& b,
                                         const std::function<Label(Label, Label)>& label,
                                         Budget& budget);

// The same line with other labels. Cost: O(nodes).
[[nodiscard]] Line relabel(const Line& line, const std::function<Label(Label)>& label);

// The bytes whose label is chosen. Cost: O(nodes).
[[nodiscard]] ByteSet bytes_labelled(const Line& line, const std::function<bool(Label)>& chosen);

// The bytes of every label that is chosen, each as one set, by label. Cost: O(nodes x depth).
[[nodiscard]] std::map<Label, ByteSet> sets_by_label(const Line& line,
                                                     const std::function<bool(Label)>& chosen);

}  // namespace tessera::pattern
