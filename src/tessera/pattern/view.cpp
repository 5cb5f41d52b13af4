#include "tessera/pattern/view.hpp"

#include <algorithm>
#include <string>

#include "tessera/base/assert.hpp"

namespace tessera::pattern {

using base::Code;
using base::fail;
using base::Result;

namespace {

Result<void> check_filetype(const Datatype& filetype, int64_t etype_size) {
  const auto refused = [](const std::string& why) {
    return fail(Code::kInvalid, "view: the filetype " + why);
  };
  if (filetype.bytes.empty()) return refused("has no bytes");
  if (etype_size < 1 || filetype.size() % etype_size != 0) {
    return refused("has " + std::to_string(filetype.size()) +
                   " bytes, which is not a multiple of the etype's " + std::to_string(etype_size));
  }
  const Interval span = filetype.true_bounds();
  if (span.begin < 0) {
    return refused("has a byte at the negative displacement " + std::to_string(span.begin));
  }
  if (!filetype.bytes.ascending()) {
    return refused("does not ascend: its displacements must grow and its bytes must not overlap");
  }
  if (filetype.extent < span.length()) {
    return refused("has an extent of " + std::to_string(filetype.extent) + ", but its bytes span " +
                   std::to_string(span.length()) + ", so its copies would interleave");
  }
  return {};
}

}  // namespace

View::View() : tiles_(kMaxPosition), tile_({{0}}, {1, nullptr}) {}

Result<View> View::make(int64_t displacement, const Datatype& filetype, int64_t etype_size) {
  TESSERA_TRY_VOID(check_filetype(filetype, etype_size));
  const int64_t tile_end = filetype.true_bounds().end;
  if (displacement < 0 || displacement > kMaxPosition - tile_end) {
    return fail(Code::kInvalid, "view: the displacement " + std::to_string(displacement) +
                                    " is negative, or the filetype passes 2^62 bytes after it");
  }
  View view;
  view.displacement_ = displacement;
  view.etype_size_ = etype_size;
  view.extent_ = filetype.extent;
  view.tiles_ = (kMaxPosition - tile_end - displacement) / filetype.extent + 1;
  view.tile_ = filetype.bytes;
  return view;
}

Result<Pattern> View::bytes(Interval stream) const {
  if (stream.begin < 0 || stream.begin > stream.end || stream.end > limit()) {
    return fail(Code::kInvalid, "view: stream offsets " + std::to_string(stream.begin) + " to " +
                                    std::to_string(stream.end) + " are not inside 0 to " +
                                    std::to_string(limit()));
  }
  if (stream.empty()) return Pattern{};
  const int64_t first = stream.begin / tile_.size();
  const int64_t last = (stream.end - 1) / tile_.size();
  TESSERA_TRY(const Pattern at, tile_.shifted({{displacement_ + first * extent_}}));
  TESSERA_TRY(const Pattern tiles, repeat(at, last - first + 1, {{extent_}}));
  const int64_t skipped = first * tile_.size();
  return tiles.clip({stream.begin - skipped, stream.end - skipped});
}

Result<int64_t> View::position(int64_t offset) const {
  if (offset < 0 || offset >= limit()) {
    return fail(Code::kInvalid, "view: stream offset " + std::to_string(offset) +
                                    " is not inside 0 to " + std::to_string(limit()));
  }
  const int64_t tile = offset / tile_.size();
  return displacement_ + tile * extent_ + tile_.position(offset % tile_.size())[0];
}

int64_t View::offset_of(int64_t position) const {
  const int64_t first = displacement_ + tile_.at()[0];
  if (position <= first) return 0;
  const int64_t tile = (position - first) / extent_;
  if (tile >= tiles_) return limit();
  return tile * tile_.size() + tile_.offset_of(position - displacement_ - tile * extent_);
}

Result<ByteSet> View::within(Interval positions) const {
  if (positions.empty()) return ByteSet{};
  TESSERA_TRY(Pattern inside, bytes({offset_of(positions.begin), offset_of(positions.end)}));
  return ByteSet::of_ascending(std::move(inside));
}

}  // namespace tessera::pattern
