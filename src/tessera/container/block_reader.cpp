#include "tessera/container/block_reader.hpp"

#include <algorithm>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/pattern/copy.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::container {
namespace {

using base::Result;
using pattern::CopyMode;
using Span = std::span<std::byte>;

// Shorter reads go through the window as a whole: one transfer and a copy cost less than three
// transfers.
constexpr int64_t kStraightBytesMin = int64_t{64} << 10;

Result<void> whole(const port::Transfer& transfer, int64_t bytes, const std::string& path) {
  if (!transfer) return transfer.status;
  if (transfer.bytes == bytes) return {};
  return base::fail(base::Code::kIntegrity,
                    path +
                        " is cut off: bytes that it should have are behind its end; restore it "
                        "from a copy");
}

std::string text_of(Interval interval) {
  return "[" + std::to_string(interval.begin) + ", " + std::to_string(interval.end) + ")";
}

}  // namespace

BlockReader::BlockReader(port::File& file, BlockReaderOptions options)
    : file_(file), options_(std::move(options)) {
  TESSERA_ASSERT(valid_block_bytes(options_.block_bytes));
}

Interval BlockReader::blocks_of(int64_t place, size_t bytes) const {
  const int64_t block = options_.block_bytes;
  const int64_t end = place + static_cast<int64_t>(bytes);
  return {place / block * block, base::ceil_div(end, block) * block};
}

Result<void> BlockReader::fetch(const Allocation& allocation, int64_t place, Span memory) {
  if (options_.piece_bytes > 0) {
    const PlacedMemory part = {place, memory};
    return fetch_together(allocation, {&part, 1});
  }
  ++counts_.transfers;
  counts_.bytes_fetched += std::ssize(memory);
  return whole(file_.read_at(allocation.place.begin + place, memory), std::ssize(memory),
               file_.path());
}

// In one transfer, whose pieces are under way together. Requires piece_bytes > 0.
Result<void> BlockReader::fetch_together(const Allocation& allocation,
                                         std::span<const PlacedMemory> parts) {
  std::vector<port::ReadSegment> segments;
  int64_t bytes = 0;
  for (const PlacedMemory& part : parts) {
    const int64_t at = allocation.place.begin + part.place;
    const auto pieces = port::in_pieces(at, part.memory, options_.piece_bytes);
    segments.insert(segments.end(), pieces.begin(), pieces.end());
    bytes += std::ssize(part.memory);
  }
  ++counts_.transfers;
  counts_.bytes_fetched += bytes;
  return whole(file_.read_together(segments), bytes, file_.path());
}

// Blocks that were fetched to the memory, from `place` on.
Result<void> BlockReader::verify(const Allocation& allocation, int64_t place, Span blocks) {
  if (!options_.verify) return {};
  const auto block = static_cast<size_t>(options_.block_bytes);
  auto number = static_cast<size_t>(place / options_.block_bytes);
  for (size_t at = 0; at < blocks.size(); at += block, ++number) {
    const Span one = blocks.subspan(at, block);
    ++counts_.blocks_verified;
    if (base::checksum(one) == allocation.checksums[number]) [[likely]]
      continue;
    TESSERA_TRY_VOID(fetch_again(allocation, place + static_cast<int64_t>(at), one));
  }
  return {};
}

Result<void> BlockReader::fetch_again(const Allocation& allocation, int64_t place, Span block) {
  ++counts_.blocks_reread;
  TESSERA_TRY_VOID(fetch(allocation, place, block));
  const auto number = static_cast<size_t>(place / options_.block_bytes);
  if (base::checksum(block) == allocation.checksums[number]) return {};
  const Interval places = {place, place + options_.block_bytes};
  std::string message =
      file_.path() + ": block " + std::to_string(number) + " of allocation " +
      std::to_string(allocation.id) + " (bytes " +
      text_of({allocation.place.begin + places.begin, allocation.place.begin + places.end}) +
      " of the container) is damaged, its checksum does not match";
  if (options_.logical_bytes) {
    message += "; it holds " + options_.logical_bytes(allocation.id, places);
  }
  return base::fail(base::Code::kIntegrity, message + "; restore the file from a copy");
}

Span BlockReader::window_of(size_t bytes) {
  if (window_bytes_ < bytes) {
    window_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    window_bytes_ = bytes;
  }
  return {window_.get(), bytes};
}

Result<void> BlockReader::load(const Allocation& allocation, std::span<const Loaded> blocks) {
  int64_t bytes = 0;
  for (const Loaded& part : blocks) bytes += part.places.length();
  const Span window = window_of(static_cast<size_t>(bytes));
  std::vector<port::ReadSegment> segments;
  for (const Loaded& part : blocks) {
    const Span memory = window.subspan(part.at, static_cast<size_t>(part.places.length()));
    segments.push_back({allocation.place.begin + part.places.begin, memory});
  }
  ++counts_.transfers;
  counts_.bytes_fetched += bytes;
  TESSERA_TRY_VOID(whole(file_.read_list(segments), bytes, file_.path()));
  for (size_t i = 0; i < blocks.size(); ++i) {
    TESSERA_TRY_VOID(verify(allocation, blocks[i].places.begin, segments[i].memory));
  }
  return {};
}

Result<void> BlockReader::read_through_window(const Allocation& allocation, int64_t place,
                                              Span memory, CopyMode mode) {
  if (memory.empty()) return {};
  const Loaded blocks = {blocks_of(place, memory.size()), 0};
  TESSERA_TRY_VOID(load(allocation, {&blocks, 1}));
  const int64_t bytes = std::ssize(memory);
  pattern::gather_runs(memory.data(), window_.get() + (place - blocks.places.begin),
                       {bytes, 1, bytes}, mode);
  return {};
}

// Pieces that come from other machines are larger than the caches themselves.
CopyMode BlockReader::mode_of(size_t bytes) const {
  const bool in_cache = options_.transfer_bytes <= kTransferBytes;
  return in_cache ? pattern::mode_for(static_cast<int64_t>(bytes), options_.companions)
                  : CopyMode::kCached;
}

// Of one transfer of a long run, in whole blocks.
size_t BlockReader::transfer_bytes() const {
  return base::exact_cast<size_t>(base::ceil_div(options_.transfer_bytes, options_.block_bytes) *
                                  options_.block_bytes);
}

// Through transfers, a piece after the other.
Result<void> BlockReader::read_pieces(const Allocation& allocation, int64_t place, Span blocks,
                                      CopyMode mode) {
  // The system's copy takes half as long again where the target begins inside a line.
  const bool through_window = mode == CopyMode::kStreaming && !pattern::is_at_line(blocks.data());
  const size_t step = transfer_bytes();
  for (size_t done = 0; done < blocks.size(); done += step) {
    const Span piece = blocks.subspan(done, std::min(step, blocks.size() - done));
    const int64_t at = place + static_cast<int64_t>(done);
    if (through_window) {
      TESSERA_TRY_VOID(read_through_window(allocation, at, piece, mode));
    } else {
      TESSERA_TRY_VOID(fetch(allocation, at, piece));
      TESSERA_TRY_VOID(verify(allocation, at, piece));
    }
  }
  return {};
}

// Copies blocks up to the first that does not match or cannot be had; answers their bytes.
size_t BlockReader::copy_good_blocks(const Allocation& allocation, int64_t place, Span blocks) {
  const auto block = static_cast<size_t>(options_.block_bytes);
  const uint64_t* sums = allocation.checksums.data() + place / options_.block_bytes;
  const Span seen = window_of(block);
  const int64_t begin = allocation.place.begin + place;
  size_t good = 0;
  const bool touched =
      options_.touch({begin, begin + std::ssize(blocks)}, [&](const std::byte* bytes) {
        for (; good < blocks.size(); good += block, ++sums) {
          pattern::copy_twice(blocks.data() + good, seen.data(), bytes + good, std::ssize(seen));
          if (base::checksum(seen) != *sums) return;
        }
      });
  if (!touched) good = 0;
  counts_.bytes_fetched += static_cast<int64_t>(good);
  counts_.blocks_verified += static_cast<int64_t>(good / block);
  return good;
}

// From memory, around the caches. A block that is no good there is fetched.
Result<void> BlockReader::copy_blocks(const Allocation& allocation, int64_t place, Span blocks) {
  const auto block = static_cast<size_t>(options_.block_bytes);
  for (size_t done = 0; done < blocks.size();) {
    ++counts_.transfers;
    done += copy_good_blocks(allocation, place + static_cast<int64_t>(done), blocks.subspan(done));
    if (done == blocks.size()) break;
    TESSERA_TRY_VOID(
        fetch_again(allocation, place + static_cast<int64_t>(done), blocks.subspan(done, block)));
    done += block;
  }
  return {};
}

Result<void> BlockReader::read_blocks(const Allocation& allocation, int64_t place, Span blocks) {
  const CopyMode mode = mode_of(blocks.size());
  const bool copies = mode == CopyMode::kStreaming && options_.touch != nullptr;
  TESSERA_TRY_VOID(copies ? copy_blocks(allocation, place, blocks)
                          : read_pieces(allocation, place, blocks, mode));
  pattern::finish_copy(mode);
  return {};
}

// From another machine: the first transfer of the inner blocks brings those at the ragged ends
// along, so that nothing waits for these alone.
Result<void> BlockReader::read_with_ends(const Allocation& allocation, int64_t place, Span memory,
                                         Interval inner) {
  const auto block = static_cast<size_t>(options_.block_bytes);
  const auto head = static_cast<size_t>(inner.begin - place);
  const auto inner_bytes = static_cast<size_t>(inner.length());
  const size_t tail = memory.size() - head - inner_bytes;
  const size_t first = std::min(inner_bytes, transfer_bytes());
  const Span window = window_of(2 * block);
  std::vector<PlacedMemory> parts;
  if (head > 0) parts.push_back({inner.begin - options_.block_bytes, window.first(block)});
  parts.push_back({inner.begin, memory.subspan(head, first)});
  if (tail > 0) parts.push_back({inner.end, window.last(block)});
  TESSERA_TRY_VOID(fetch_together(allocation, parts));
  for (const PlacedMemory& part : parts) {
    TESSERA_TRY_VOID(verify(allocation, part.place, part.memory));
  }
  std::memcpy(memory.data(), window.data() + block - head, head);
  std::memcpy(memory.data() + head + inner_bytes, window.data() + block, tail);
  return read_pieces(allocation, inner.begin + static_cast<int64_t>(first),
                     memory.subspan(head + first, inner_bytes - first), CopyMode::kCached);
}

Result<void> BlockReader::read(const Allocation& allocation, int64_t place, Span memory) {
  TESSERA_ASSERT(place >= 0);
  TESSERA_ASSERT(static_cast<int64_t>(memory.size()) <= allocation.place.length() - place);
  if (memory.empty()) return {};
  if (!options_.verify) return fetch(allocation, place, memory);
  const int64_t block = options_.block_bytes;
  const Interval blocks = blocks_of(place, memory.size());
  if (blocks.length() <= std::max(block, kStraightBytesMin)) {
    const bool aligned = blocks.length() == static_cast<int64_t>(memory.size());
    if (!aligned) return read_through_window(allocation, place, memory, CopyMode::kCached);
  }
  // Ragged ends through the window, whole blocks straight to the caller.
  const int64_t end = place + static_cast<int64_t>(memory.size());
  const Interval straight = {base::ceil_div(place, block) * block, end / block * block};
  if (options_.piece_bytes > 0) {
    return straight.empty() ? read_through_window(allocation, place, memory, CopyMode::kCached)
                            : read_with_ends(allocation, place, memory, straight);
  }
  const auto head = static_cast<size_t>(std::min(straight.begin, end) - place);
  TESSERA_TRY_VOID(read_through_window(allocation, place, memory.first(head), CopyMode::kCached));
  if (!straight.empty()) {
    const Span blocks_memory = memory.subspan(static_cast<size_t>(straight.begin - place),
                                              static_cast<size_t>(straight.length()));
    TESSERA_TRY_VOID(read_blocks(allocation, straight.begin, blocks_memory));
  }
  const int64_t tail = std::max(straight.begin, straight.end);
  if (tail >= end) return {};
  return read_through_window(allocation, tail, memory.subspan(static_cast<size_t>(tail - place)),
                             CopyMode::kCached);
}

// How many of the pieces fit into one window, and which blocks they need. At least one piece,
// unless that alone is too long for a window.
size_t BlockReader::plan_window(std::span<const PlacedMemory> pieces,
                                std::vector<Loaded>& blocks) const {
  blocks.clear();
  const int64_t room = std::max(kWindowBytes, options_.block_bytes);
  int64_t used = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].memory.empty()) continue;
    Interval needed = blocks_of(pieces[i].place, pieces[i].memory.size());
    const bool touches = !blocks.empty() && needed.begin <= blocks.back().places.end;
    if (touches) needed.begin = std::min(blocks.back().places.end, needed.end);
    if (used + needed.length() > room) return i;
    if (touches) {
      blocks.back().places.end = std::max(blocks.back().places.end, needed.end);
    } else {
      blocks.push_back({needed, static_cast<size_t>(used)});
    }
    used += needed.length();
  }
  return pieces.size();
}

// Exactly the pieces, which need no blocks around them.
Result<void> BlockReader::fetch_list(const Allocation& allocation,
                                     std::span<const PlacedMemory> pieces) {
  std::vector<port::ReadSegment> segments;
  while (!pieces.empty()) {
    const auto batch = pieces.first(std::min(pieces.size(), kPiecesMax));
    segments.clear();
    int64_t bytes = 0;
    for (const PlacedMemory& piece : batch) {
      segments.push_back({allocation.place.begin + piece.place, piece.memory});
      bytes += static_cast<int64_t>(piece.memory.size());
    }
    ++counts_.transfers;
    counts_.bytes_fetched += bytes;
    TESSERA_TRY_VOID(whole(file_.read_list(segments), bytes, file_.path()));
    pieces = pieces.subspan(batch.size());
  }
  return {};
}

Result<void> BlockReader::read_list(const Allocation& allocation,
                                    std::span<const PlacedMemory> pieces) {
  if (!options_.verify) return fetch_list(allocation, pieces);
  std::vector<Loaded> blocks;
  while (!pieces.empty()) {
    const size_t count = plan_window(pieces, blocks);
    const bool alone = blocks.size() == 1 && count == 1;
    if (count == 0 || alone) {
      TESSERA_TRY_VOID(read(allocation, pieces.front().place, pieces.front().memory));
      pieces = pieces.subspan(1);
      continue;
    }
    TESSERA_TRY_VOID(load(allocation, blocks));
    size_t at = 0;
    for (const PlacedMemory& piece : pieces.first(count)) {
      if (piece.memory.empty()) continue;
      while (piece.place >= blocks[at].places.end) ++at;
      const auto offset = static_cast<size_t>(piece.place - blocks[at].places.begin);
      std::memcpy(piece.memory.data(), window_.get() + blocks[at].at + offset, piece.memory.size());
    }
    pieces = pieces.subspan(count);
  }
  return {};
}

Result<void> BlockReader::read_places(const Allocation& allocation, const pattern::Pattern& places,
                                      Span memory) {
  TESSERA_ASSERT(places.size() == static_cast<int64_t>(memory.size()));
  if (places.empty()) return {};
  const Interval span = places.span();
  TESSERA_ASSERT(span.begin >= 0 && span.end <= allocation.place.length());
  if (places.runs() == 1) return read(allocation, span.begin, memory);
  const bool dense = span.length() / places.runs() < 2 * options_.block_bytes;
  const bool short_runs = places.size() / places.runs() < kStraightBytesMin;
  return dense && short_runs && places.ascending() ? read_dense(allocation, places, memory)
                                                   : read_scattered(allocation, places, memory);
}

// A window after the other, gathered without expanding the pattern.
Result<void> BlockReader::read_dense(const Allocation& allocation, const pattern::Pattern& places,
                                     Span memory) {
  const pattern::CopyMode mode = pattern::mode_for(places.size());
  for (int64_t done = 0; done < places.size();) {
    const int64_t begin = blocks_of(places.position(done)[0], 1).begin;
    const int64_t window_end = begin + std::max(kWindowBytes, options_.block_bytes);
    const int64_t end = std::min(places.size(), places.offset_of(window_end));
    const int64_t last = places.position(end - 1)[0];
    const Loaded blocks = {{begin, blocks_of(last, 1).end}, 0};
    TESSERA_TRY_VOID(load(allocation, {&blocks, 1}));
    TESSERA_TRY(const pattern::Pattern in_window, places.shifted(pattern::Point<1>{{-begin}}));
    pattern::gather(memory.data() + done, window_.get(), in_window, {done, end}, mode);
    done = end;
  }
  return {};
}

// Run by run, a batch after the other, each in the order of the places.
Result<void> BlockReader::read_scattered(const Allocation& allocation,
                                         const pattern::Pattern& places, Span memory) {
  pattern::Cursor<1> cursor(places);
  std::vector<pattern::Piece<1>> runs(
      std::min(kPiecesMax, base::exact_cast<size_t>(places.runs())));
  std::vector<PlacedMemory> pieces;
  for (size_t done = 0; done < memory.size();) {
    pieces.clear();
    const size_t count = cursor.next_pieces(runs);
    for (const pattern::Piece<1>& run : std::span(runs).first(count)) {
      const auto length = static_cast<size_t>(run.length);
      pieces.push_back({run.at[0], memory.subspan(done, length)});
      done += length;
    }
    if (!places.ascending()) {
      std::sort(pieces.begin(), pieces.end(),
                [](const PlacedMemory& a, const PlacedMemory& b) { return a.place < b.place; });
    }
    TESSERA_TRY_VOID(read_list(allocation, pieces));
  }
  return {};
}

}  // namespace tessera::container
