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

// Hashes the blocks that were completed when the piece grew from `before` bytes.
void hash_blocks(base::ByteView piece, int64_t before, int64_t block_bytes,
                 std::vector<uint64_t>& sums) {
  const auto block = static_cast<size_t>(block_bytes);
  for (size_t at = static_cast<size_t>(before) / block * block; at + block <= piece.size();
       at += block) {
    sums.push_back(base::checksum(piece.subspan(at, block)));
  }
}

}  // namespace

Layout layout_of(const Plan& plan, int64_t begin, int64_t block_bytes) {
  Layout layout;
  layout.block_bytes = block_bytes;
  for (const Shelf& shelf : plan.shelves) {
    const int64_t room = base::ceil_div(shelf.bytes.size(), block_bytes) * block_bytes;
    layout.rooms.push_back({begin, begin + room});
    begin += room;
  }
  return layout;
}

ShareWriter::ShareWriter(port::File& target, const Plan& plan, const Layout& layout, Interval share,
                         int64_t piece_bytes)
    : target_(target), plan_(plan), layout_(layout), piece_bytes_(piece_bytes) {
  const int64_t block = layout.block_bytes;
  TESSERA_ASSERT(piece_bytes > 0 && piece_bytes % block == 0);
  TESSERA_ASSERT(layout.rooms.empty() || layout.rooms.front().begin % block == 0);
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
    if (lane.piece.empty()) lane.piece.resize(static_cast<size_t>(piece_bytes_));
    const int64_t before = lane.filled;
    const int64_t length =
        std::min(piece_length(shelf) - before, std::min(end, lane.whole.end) - lane.at);
    gather(lane.piece.data() + before, length);
    lane.filled += length;
    hash_blocks(base::ByteView(lane.piece).first(static_cast<size_t>(lane.filled)), before,
                layout_.block_bytes, lane.sums);
    TESSERA_TRY_VOID(write_piece(shelf));
  }
  if (lane.at < end) keep(lane.tail, end - lane.at);
  return {};
}

// The bytes of the lane's piece once it is full.
int64_t ShareWriter::piece_length(size_t shelf) const {
  const Lane& lane = lanes_[shelf];
  const int64_t begin = layout_.rooms[shelf].begin + lane.at - lane.filled;
  return piece_bytes_ - begin % piece_bytes_;
}

// Writes the lane's piece if it is full, or the last one.
Result<void> ShareWriter::write_piece(size_t shelf) {
  Lane& lane = lanes_[shelf];
  if (lane.filled < piece_length(shelf) && lane.at < lane.whole.end) return {};
  const int64_t bytes = std::exchange(lane.filled, 0);
  const auto piece = base::ByteView(lane.piece).first(static_cast<size_t>(bytes));
  TESSERA_TRY_VOID(target_.write_at(layout_.rooms[shelf].begin + lane.at - bytes, piece).status);
  if (lane.at == lane.whole.end) lane.piece = {};
  return {};
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
