#include "tessera/pattern/assembler.hpp"

#include <algorithm>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/nodes.hpp"
#include "tessera/pattern/recognise.hpp"

namespace tessera::pattern {

using base::Code;
using base::fail;
using base::Result;

template <int D>
void Assembler<D>::append(const Trace<D>& part) {
  if (part.empty()) return;
  if (!parts_.empty() && parts_.back().end() == part.at()) {
    join_to_last(part);
  } else {
    parts_.push_back(part);
  }
}

template <int D>
void Assembler<D>::append_run(const Point<D>& at, int64_t length) {
  append(Trace<D>(at, {length, nullptr}));
}

// The last run of the last part and the first run of `part` become one run between what is left of
// the two.
template <int D>
void Assembler<D>::join_to_last(const Trace<D>& part) {
  const int64_t before = last_run_length(parts_.back().shape());
  const int64_t after = first_run_length(part.shape());
  if (after > kMaxPosition - before) {
    parts_.push_back(part);  // finish() refuses the whole for its size
    return;
  }
  const Trace<D> last = std::move(parts_.back());
  parts_.pop_back();
  const Trace<D> body = last.clip({0, last.size() - before});
  const Trace<D> rest = part.clip({after, part.size()});
  if (!body.empty()) parts_.push_back(body);
  parts_.emplace_back(part.at().advanced(-before), Shape<D>{before + after, nullptr});
  if (!rest.empty()) parts_.push_back(rest);
}

template <int D>
Trace<D> Assembler<D>::finish_in_bounds() {
  std::vector<Trace<D>> parts = std::move(parts_);
  parts_.clear();
  recognise(parts);
  return make_sequence(std::move(parts));
}

template <int D>
bool Assembler<D>::in_bounds() const {
  int64_t size = 0;
  for (const Trace<D>& part : parts_) {
    if (part.size() > kMaxPosition - size) return false;
    size += part.size();
  }
  for (int d = 0; d < D && !parts_.empty(); ++d) {
    Interval hull = parts_.front().span(d);
    for (const Trace<D>& part : parts_) {
      hull = {std::min(hull.begin, part.span(d).begin), std::max(hull.end, part.span(d).end)};
    }
    if (hull.begin < hull.end - kMaxPosition) return false;
  }
  return true;
}

template <int D>
Result<Trace<D>> Assembler<D>::finish() {
  int64_t weight = 0;
  for (const Trace<D>& part : parts_) weight += part.shape().weight();
  const bool fits = in_bounds();
  if (fits && weight <= kMaxWeight) return finish_in_bounds();
  parts_.clear();
  if (!fits) return fail(Code::kInvalid, "a sequence of runs holds or spans more than 2^62 bytes");
  return fail(Code::kTooComplex, "a sequence of more than " + std::to_string(kMaxWeight) +
                                     " irregular runs is not supported");
}

Result<Pattern> pattern_of_runs(const std::vector<Run>& runs) {
  Assembler<1> assembler;
  for (const Run& run : runs) {
    TESSERA_TRY(const Pattern part, Pattern::run({{run.begin}}, run.length));
    assembler.append(part);
  }
  return assembler.finish();
}

template class Assembler<1>;
template class Assembler<2>;
template class Assembler<3>;

}  // namespace tessera::pattern
