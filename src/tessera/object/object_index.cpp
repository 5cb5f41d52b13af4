#include "tessera/object/object_index.hpp"

#include "tessera/base/checked.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::object {

using pattern::Interval;
using pattern::Line;

ObjectIndex::ObjectIndex(const ObjectSet& set) {
  std::vector<Interval> intervals;
  std::vector<SharersId> values;
  const Line& line = set.line();
  const int64_t parts = line.shape().is_sequence() ? line.part_count() : (line.empty() ? 0 : 1);
  for (int64_t i = 0; i < parts; ++i) {
    const Line part = line.shape().is_sequence() ? line.part(i) : line;
    if (part.shape().is_run()) {
      const auto sharers = static_cast<SharersId>(part.at()[1] - part.at()[0]);
      if (sharers == kNobody) continue;
      values.push_back(sharers);
    } else {
      stretches_.push_back(part);
      values.push_back(-base::exact_cast<SharersId>(stretches_.size()));
    }
    intervals.push_back(part.span());
  }
  entries_ = FlatIndex(intervals, values);
}

std::vector<Object> ObjectIndex::expand(SharersId stretch, Interval bytes) const {
  const Line& line = stretches_[static_cast<size_t>(-1 - stretch)];
  const Interval wanted = common(bytes, line.span());
  std::vector<Object> objects;
  pattern::Cursor<2> cursor(line, line.run_at(wanted.begin - line.at()[0]).begin);
  pattern::Piece<2> piece;
  while (cursor.next_pieces({&piece, 1}) == 1 && piece.at[0] < wanted.end) {
    const auto sharers = static_cast<SharersId>(piece.at[1] - piece.at[0]);
    if (sharers != kNobody) {
      objects.push_back({{piece.at[0], piece.at[0] + piece.length}, sharers});
    }
  }
  return objects;
}

int64_t ObjectIndex::memory_bytes() const {
  int64_t bytes = entries_.memory_bytes();
  for (const Line& line : stretches_) bytes += line.memory_bytes();
  return bytes;
}

}  // namespace tessera::object
