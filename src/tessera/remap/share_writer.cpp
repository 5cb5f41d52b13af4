#include "tessera/remap/share_writer.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::remap {

namespace {

using base::Result;
using pattern::Pattern;

// What is gathered, hashed and written at a time: it stays in the second cache.
constexpr int64_t kPieceBytes = int64_t{512} << 10;

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

ShareWriter::ShareWriter(port::File& target, port::WriteGate& gate, const Plan& plan,
                         const Layout& layout, Interval share)
    : target_(target), gate_(gate), plan_(plan), layout_(layout) {
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
  piece_.resize(static_cast<size_t>(std::max(kPieceBytes, block)));
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
    const auto carried = std::ssize(lane.carry);
    std::copy(lane.carry.begin(), lane.carry.end(), piece_.begin());
    const int64_t length =
        std::min(std::ssize(piece_) - carried, std::min(end, lane.whole.end) - lane.at);
    gather(piece_.data() + carried, length);
    TESSERA_TRY_VOID(write_piece(shelf, static_cast<size_t>(carried + length)));
  }
  if (lane.at < end) keep(lane.tail, end - lane.at);
  return {};
}

// Writes the whole blocks of the piece, which ends before the lane's next place; the rest waits.
Result<void> ShareWriter::write_piece(size_t shelf, size_t bytes) {
  Lane& lane = lanes_[shelf];
  const auto block = static_cast<size_t>(layout_.block_bytes);
  const size_t blocks = bytes / block * block;
  const base::ByteView piece(piece_.data(), bytes);
  for (size_t at = 0; at < blocks; at += block) {
    lane.sums.push_back(base::checksum(piece.subspan(at, block)));
  }
  lane.carry.assign(piece.begin() + static_cast<ptrdiff_t>(blocks), piece.end());
  if (blocks == 0) return {};
  const int64_t place = lane.at - static_cast<int64_t>(bytes);
  return gate_.write(target_, layout_.rooms[shelf].begin + place, piece_, blocks);
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
