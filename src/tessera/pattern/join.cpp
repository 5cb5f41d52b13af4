#include "tessera/pattern/join.hpp"

#include <string>

#include "tessera/pattern/transform.hpp"
#include "tessera/pattern/zip.hpp"

namespace tessera::pattern {

using base::Code;
using base::fail;
using base::Result;

namespace {

Join without_first(const Trace<3>& trace) {
  return transform<2>(trace, [](const Point<3>& p) { return Point<2>{{p[1], p[2]}}; });
}

}  // namespace

Result<Join> join(const Pattern& p, const Pattern& q, Budget budget) {
  if (p.size() != q.size()) {
    return fail(Code::kInvalid, "patterns of " + std::to_string(p.size()) + " and " +
                                    std::to_string(q.size()) + " bytes are not of one stream");
  }
  TESSERA_TRY(const Trace<3> both, zip(with_stream(p), with_stream(q), budget));
  return without_first(both);
}

Join identity(const ByteSet& set) {
  return transform<2>(set.ascending(), [](const Point<1>& p) { return Point<2>{{p[0], p[0]}}; });
}

Result<Join> restrict(const Join& pairs, const ByteSet& set, Budget budget) {
  return zip(pairs, set.ascending(), budget);
}

Result<Join> match(const Join& a, const Join& b, Budget budget) {
  if (!b.ascending()) {
    return fail(Code::kInvalid, "the right side of a match must ascend in its first coordinate");
  }
  TESSERA_TRY(const Trace<3> both, zip(a, b, budget));
  return without_first(both);
}

Join swapped(const Join& pairs) {
  return transform<2>(pairs, [](const Point<2>& p) { return Point<2>{{p[1], p[0]}}; });
}

Pattern side(const Join& pairs, int coordinate) {
  return transform<1>(pairs, [coordinate](const Point<2>& p) { return Point<1>{{p[coordinate]}}; });
}

Result<Pattern> select(const Pattern& pattern, const Pattern& stream, Budget budget) {
  const Interval wanted = stream.span();
  if (!stream.empty() && !Interval{0, pattern.size()}.contains(wanted)) {
    return fail(Code::kInvalid, "stream offsets [" + std::to_string(wanted.begin) + ", " +
                                    std::to_string(wanted.end) + ") are outside a stream of " +
                                    std::to_string(pattern.size()) + " bytes");
  }
  TESSERA_TRY(const Join pairs, zip(stream, with_stream(pattern), budget));
  return side(pairs, 1);
}

Result<ByteSet> locate(const Pattern& pattern, const ByteSet& set, Budget budget) {
  TESSERA_TRY(const Join found, restrict(swapped(with_stream(pattern)), set, budget));
  return ByteSet::of_ascending(side(found, 1));
}

}  // namespace tessera::pattern
