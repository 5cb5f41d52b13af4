#include "tessera/remap/share_writer.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::remap {

namespace {

using base::Result;
using pattern::Pattern;

// The system's large page.
constexpr int64_t kPieceBytesMax = int64_t{2} << 20;
constexpr int64_t kPiecesBytes = int64_t{64} << 20;

// What is written at a time: a power of two of blocks.
int64_t piece_bytes(size_t shelves, int64_t block) {
  const int64_t room = kPiecesBytes / static_cast<int64_t>(std::max<size_t>(1, shelves));
  int64_t bytes = block;
  while (2 * bytes <= std::min(room, kPieceBytesMax)) bytes *= 2;
  return bytes;
}

}  // namespace

Layout layout_of(const Plan& plan, int64_t begin, int64_t block_bytes) {
  Layout layout;
  layout.block_bytes = block_bytes;
  TESSERA_ASSERT(begin % block_bytes == 0);
  for (const Shelf& shelf : plan.shelves) {
    const int64_t room = base::ceil_div(shelf.bytes.size(), block_bytes) * block_bytes;
    layout.rooms.push_back({begin, begin + room});
    begin += room;
  }
  return layout;
}

ShareWriter::ShareWriter(port::File& target, port::WriteGate& gate, const Plan& plan,
                         const Layout& layout, Interval share)
    : target_(target),
      gate_(gate),
      plan_(plan),
      layout_(layout),
      piece_bytes_(piece_bytes(plan.shelves.size(), layout.block_bytes)) {
  const int64_t block = layout.block_bytes;
  for (const Shelf& shelf : plan.shelves) {
    Lane lane;
    lane.begin = shelf.bytes.ascending().offset_of(share.begin);
    lane.end = shelf.bytes.ascending().offset_of(share.end);
    lane.at = lane.begin;
    lane.whole = {base::ceil_div(lane.begin, block) * block, lane.end / block * block};
    // A share inside one block has no whole ones; all of it is the head.
    if (lane.whole.empty()) lane.whole = {lane.end, lane.end};
    lanes_.push_back(std::move(lane));
  }
}

Result<void> ShareWriter::write(Interval window, const std::byte* memory) {
  for (size_t shelf = 0; shelf < lanes_.size(); ++shelf) {
    const int64_t end = plan_.shelves[shelf].bytes.ascending().offset_of(window.end);
    taken_bytes_ += end - lanes_[shelf].at;
    TESSERA_TRY_VOID(write_lane(shelf, end, memory, window.begin));
  }
  return {};
}

// Takes in the places up to `end`.
Result<void> ShareWriter::write_lane(size_t shelf, int64_t end, const std::byte* memory,
                                     int64_t window_begin) {
  Lane& lane = lanes_[shelf];
  if (lane.at == end) return {};
  TESSERA_ASSERT(lane.at < end && end <= lane.end);
  // As offsets from the window's memory; the bounds of positions hold, as 0 <= window_begin.
  TESSERA_TRY(const Pattern bytes,
              plan_.shelves[shelf].bytes.ascending().shifted({{-window_begin}}));
  const auto gather = [&](std::byte* out, int64_t length) {
    pattern::gather(out, memory, bytes, {lane.at, lane.at + length}, pattern::CopyMode::kCached);
    lane.at += length;
  };
  const auto keep = [&](base::Bytes& kept, int64_t length) {
    kept.resize(kept.size() + static_cast<size_t>(length));
    gather(kept.data() + (kept.size() - static_cast<size_t>(length)), length);
  };
  if (lane.at < lane.whole.begin) keep(lane.head, std::min(end, lane.whole.begin) - lane.at);
  while (lane.at < std::min(end, lane.whole.end)) {
    if (lane.piece.empty()) {
      lane.piece.resize(static_cast<size_t>(std::min(piece_bytes_, lane.whole.length())));
    }
    const int64_t full = piece_end(shelf);
    const int64_t length = std::min(end, full) - lane.at;
    gather(lane.piece.data() + lane.filled, length);
    lane.filled += length;
    hash(lane);
    if (lane.at == full) TESSERA_TRY_VOID(write_piece(shelf));
  }
  if (lane.at < end) keep(lane.tail, end - lane.at);
  return {};
}

// The place where the lane's piece is full: where a large page of the file ends, or the lane does.
int64_t ShareWriter::piece_end(size_t shelf) const {
  const Lane& lane = lanes_[shelf];
  const int64_t room = layout_.rooms[shelf].begin;
  const int64_t page_end = (room + lane.at) / piece_bytes_ * piece_bytes_ + piece_bytes_;
  return std::min(page_end - room, lane.whole.end);
}

// Takes the checksums of the blocks of the piece that have become whole.
void ShareWriter::hash(Lane& lane) const {
  const int64_t block = layout_.block_bytes;
  const int64_t begin = lane.at - lane.filled;
  const base::ByteView piece = lane.piece;
  for (int64_t at = lane.whole.begin + std::ssize(lane.sums) * block; at + block <= lane.at;
       at += block) {
    lane.sums.push_back(base::checksum(
        piece.subspan(static_cast<size_t>(at - begin), static_cast<size_t>(block))));
  }
}

Result<void> ShareWriter::write_piece(size_t shelf) {
  Lane& lane = lanes_[shelf];
  const auto bytes = static_cast<size_t>(std::exchange(lane.filled, 0));
  const int64_t place = lane.at - static_cast<int64_t>(bytes);
  return gate_.write(target_, layout_.rooms[shelf].begin + place, lane.piece, bytes);
}

std::vector<BlockSums> ShareWriter::sums() const {
  std::vector<BlockSums> all;
  for (size_t shelf = 0; shelf < lanes_.size(); ++shelf) {
    const Lane& lane = lanes_[shelf];
    if (lane.sums.empty()) continue;
    all.push_back({shelf, lane.whole.begin / layout_.block_bytes, lane.sums});
  }
  return all;
}

std::vector<Fragment> ShareWriter::fragments() const {
  std::vector<Fragment> all;
  for (size_t shelf = 0; shelf < lanes_.size(); ++shelf) {
    const Lane& lane = lanes_[shelf];
    if (!lane.head.empty()) all.push_back({shelf, lane.begin, lane.head});
    if (!lane.tail.empty()) all.push_back({shelf, lane.whole.end, lane.tail});
  }
  return all;
}

}  // namespace tessera::remap
