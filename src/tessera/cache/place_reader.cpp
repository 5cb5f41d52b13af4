#include "tessera/cache/place_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/cache/kept_reads.hpp"
#include "tessera/container/block_reader.hpp"
#include "tessera/lock/no_locks.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/segments.hpp"
#include "tessera/pattern/copy.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::cache {

namespace {

using base::Result;
using container::Allocation;
using container::BlockReader;
using move::Move;

constexpr int64_t kPieceBytes = int64_t{1} << 20;
constexpr size_t kSegmentsMax = 4096;
constexpr int64_t kSegmentBytesMax = int64_t{16} << 20;

// Places that ascend: packed into memory, or into a buffer from which they are scattered.
Result<void> read_ascending(BlockReader& reader, const Allocation& allocation, const Move& move) {
  const auto size = base::exact_cast<size_t>(move.size());
  if (move.memory_is_run()) {
    return reader.read_places(allocation, move.file, {move.base + move.memory.at()[0], size});
  }
  base::Bytes buffer(std::min(size, static_cast<size_t>(kPieceBytes)));
  for (int64_t done = 0; done < move.size();) {
    const Move piece = move.clip({done, done + kPieceBytes});
    const std::span<std::byte> packed = std::span(buffer).first(static_cast<size_t>(piece.size()));
    TESSERA_TRY_VOID(reader.read_places(allocation, piece.file, packed));
    pattern::scatter(move.base, packed.data(), piece.memory);
    done += piece.size();
  }
  return {};
}

// Places that jump: lists, each in the order of the places.
Result<void> read_jumping(BlockReader& reader, const Allocation& allocation, const Move& move) {
  move::SegmentWalk walk(move.file, move.memory);
  std::vector<move::Segment> segments(kSegmentsMax);
  std::vector<container::PlacedMemory> pieces;
  while (const size_t count = walk.next(segments, kSegmentBytesMax)) {
    pieces.clear();
    for (const move::Segment& segment : std::span(segments).first(count)) {
      const auto length = static_cast<size_t>(segment.length);
      pieces.push_back({segment.file, {move.base + segment.memory, length}});
    }
    std::sort(pieces.begin(), pieces.end(),
              [](const auto& a, const auto& b) { return a.place < b.place; });
    TESSERA_TRY_VOID(reader.read_list(allocation, pieces));
  }
  return {};
}

Result<void> read_unchecked(port::File& file, const Allocation& allocation, const Move& move,
                            const PlaceSettings& settings) {
  Move there = move;
  TESSERA_TRY(there.file, move.file.shifted({{allocation.place.begin}}));
  const port::Transfer read = execute_on(file, there, settings.companions, settings.experience);
  TESSERA_TRY_VOID(read.status);
  if (read.bytes < move.size()) {
    return base::fail(base::Code::kIntegrity,
                      file.path() + " is shorter than its map says; it may have been truncated");
  }
  return {};
}

container::BlockReaderOptions reader_options(const PlaceSettings& settings) {
  container::BlockReaderOptions options;
  options.block_bytes = settings.block_bytes;
  options.verify = settings.verify;
  options.companions = settings.companions;
  if (settings.remote) {
    options.transfer_bytes = container::kRemoteTransferBytes;
    options.piece_bytes = container::kRemotePieceBytes;
  }
  return options;
}

Result<void> read_by_blocks(BlockReader& reader, const Allocation& allocation, const Move& move) {
  return move.file.ascending() ? read_ascending(reader, allocation, move)
                               : read_jumping(reader, allocation, move);
}

// The blocks of the container that hold the places.
pattern::Interval blocks_around(pattern::Interval places, const Allocation& allocation,
                                int64_t block) {
  return {allocation.place.begin + places.begin / block * block,
          allocation.place.begin + base::ceil_div(places.end, block) * block};
}

}  // namespace

port::Transfer execute_on(port::File& file, const Move& move, int companions,
                          move::Experience* experience) {
  lock::NoLocks none;
  static const move::Hints hints = move::Hints().without_gaps();
  const move::Costs costs;
  move::Context context{file, none, hints, costs, {}, {}, {}, companions, 0, experience};
  return move::execute_independent(move, context);
}

Result<void> read_places(port::File& file, const Allocation& allocation, const Move& move,
                         PlaceSettings settings) {
  if (!settings.verify && move.file.ascending() && !settings.remote) {
    return read_unchecked(file, allocation, move, settings);
  }
  container::BlockReaderOptions options = reader_options(settings);
  if (settings.experience == nullptr) {
    BlockReader reader(file, options);
    return read_by_blocks(reader, allocation, move);
  }
  KeptReads reads(file, *settings.experience, settings.companions);
  const pattern::Interval part = blocks_around(move.file.span(), allocation, settings.block_bytes);
  reads.expect(part, move.base + move.memory.at()[0]);
  if (reads.maps(part)) {
    options.touch = [&reads](pattern::Interval bytes, const auto& body) {
      return reads.touch(bytes, body);
    };
  }
  BlockReader reader(reads, options);
  return read_by_blocks(reader, allocation, move);
}

Result<Move> select_part(const Move& move, const pattern::ByteSet& bytes, pattern::Pattern places) {
  Move part = move;
  part.file = std::move(places);
  if (bytes.size() == move.size()) return part;
  TESSERA_TRY(const pattern::ByteSet stream, pattern::locate(move.file, bytes));
  TESSERA_TRY(part.memory, pattern::select(move.memory, stream.ascending()));
  return part;
}

void fill_with_zeros(std::byte* base, const pattern::Pattern& memory) {
  pattern::Cursor<1> cursor(memory);
  std::array<pattern::Piece<1>, 128> pieces;
  while (const size_t count = cursor.next_pieces(pieces)) {
    for (const auto& piece : std::span(pieces).first(count)) {
      std::memset(base + piece.at[0], 0, static_cast<size_t>(piece.length));
    }
  }
}

}  // namespace tessera::cache
