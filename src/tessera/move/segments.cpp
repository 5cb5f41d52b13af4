#include "tessera/move/segments.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera::move {

int64_t SegmentWalk::Side::left() {
  if (index_ == count_) {
    count_ = cursor_.next_pieces(batch_);
    index_ = 0;
    if (count_ == 0) return 0;
  }
  return batch_[index_].length - within_;
}

void SegmentWalk::Side::advance(int64_t bytes) {
  within_ += bytes;
  if (within_ < batch_[index_].length) return;
  within_ = 0;
  ++index_;
}

SegmentWalk::SegmentWalk(const pattern::Pattern& file, const pattern::Pattern& memory)
    : file_(file), memory_(memory) {
  TESSERA_ASSERT(file.size() == memory.size());
}

size_t SegmentWalk::next(std::span<Segment> segments, int64_t bytes_max) {
  TESSERA_ASSERT(!segments.empty() && bytes_max > 0);
  size_t count = 0;
  for (int64_t room = bytes_max; count < segments.size() && room > 0;) {
    const int64_t length = std::min({file_.left(), memory_.left(), room});
    if (length == 0) break;
    segments[count++] = {file_.position(), memory_.position(), length};
    file_.advance(length);
    memory_.advance(length);
    room -= length;
  }
  return count;
}

}  // namespace tessera::move
