#include "tessera/remap/fill.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"

namespace tessera::remap {

namespace {

using base::Bytes;
using base::ByteView;
using base::Result;

constexpr int64_t kGrainBytes = int64_t{64} << 10;
constexpr int64_t kGrainsMin = 16;  // of a rank, for shares to be even
// A window that stays in the caches is gathered faster than a larger one is read.
constexpr int64_t kWindowBytesMin = int64_t{2} << 20;
constexpr int64_t kWindowBytesMax = int64_t{32} << 20;
// What a shelf should get of a window, for a request of some size.
constexpr int64_t kShelfBytes = int64_t{32} << 10;

int64_t window_bytes(const Plan& plan, const FillOptions& options) {
  if (options.window_bytes > 0) return options.window_bytes;
  return std::clamp(std::ssize(plan.shelves) * kShelfBytes, kWindowBytesMin, kWindowBytesMax);
}

// The most shelves that have begun and are not complete, while the file is read from its beginning.
int64_t shelves_at_once(const Plan& plan) {
  std::vector<std::pair<int64_t, int>> changes;  // ends before beginnings
  for (const Shelf& shelf : plan.shelves) {
    const Interval span = shelf.bytes.ascending().span();
    changes.emplace_back(span.begin, 1);
    changes.emplace_back(span.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0;
  int64_t most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return most;
}

// As large as is asked for, but not more than so many of those together, and in a window in which
// shelves end and others begin twice as many; both this and the size of a block are powers of two.
int64_t piece_bytes(const FillJob& job, const FillOptions& options) {
  constexpr int64_t kPiecesMax = 32;
  const int64_t shelves = std::max(kPiecesMax, shelves_at_once(job.plan));
  const auto each = static_cast<uint64_t>(options.piece_bytes_max * kPiecesMax / shelves);
  return std::max(job.layout.block_bytes, static_cast<int64_t>(std::bit_floor(each)));
}

// What the shelves need of a window lies in it; empty if they need nothing.
Interval needed_of(const Plan& plan, Interval window) {
  Interval needed = {window.end, window.begin};
  for (const Shelf& shelf : plan.shelves) {
    const pattern::Pattern& bytes = shelf.bytes.ascending();
    const int64_t first = bytes.offset_of(window.begin);
    const int64_t last = bytes.offset_of(window.end) - 1;
    if (last < first) continue;
    needed.begin = std::min(needed.begin, bytes.position(first)[0]);
    needed.end = std::max(needed.end, bytes.position(last)[0] + 1);
  }
  return needed;
}

Result<void> write_share(const FillJob& job, ShareWriter& writer, Interval share,
                         const FillOptions& options) {
  const int64_t step = window_bytes(job.plan, options);
  const int64_t total = job.plan.stored_bytes();
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(
      static_cast<size_t>(std::min(step, share.length())));
  for (int64_t begin = share.begin; begin < share.end; begin += step) {
    const int64_t before = writer.taken_bytes();
    const Interval window = needed_of(job.plan, {begin, std::min(share.end, begin + step)});
    if (window.empty()) continue;
    TESSERA_TRY_VOID(
        job.source.read(window.begin, {memory.get(), static_cast<size_t>(window.length())}));
    TESSERA_TRY_VOID(writer.write(window, memory.get()));
    if (options.progress) options.progress(writer.taken_bytes() - before, total);
  }
  return {};
}

// --- messages between ranks of one job

Bytes encode_fragments(const std::vector<Fragment>& fragments, int rank, int ranks) {
  Bytes message;
  base::ByteWriter writer(message);
  for (const Fragment& fragment : fragments) {
    if (static_cast<int>(fragment.shelf % static_cast<size_t>(ranks)) != rank) continue;
    writer.varint(fragment.shelf);
    writer.signed_varint(fragment.place);
    writer.sized_bytes(fragment.bytes);
  }
  return message;
}

Bytes encode_sums(const std::vector<BlockSums>& all) {
  Bytes message;
  base::ByteWriter writer(message);
  for (const BlockSums& one : all) {
    writer.varint(one.shelf);
    writer.signed_varint(one.first_block);
    writer.varint(one.sums.size());
    for (const uint64_t sum : one.sums) writer.u64(sum);
  }
  return message;
}

// Blocks to which several ranks give bytes.
class SharedBlocks {
 public:
  SharedBlocks(const Plan& plan, const Layout& layout) : plan_(plan), layout_(layout) {}

  Result<void> add(ByteView message) {
    base::ByteReader reader(message);
    while (!reader.at_end()) {
      TESSERA_TRY(const uint64_t shelf, reader.varint());
      TESSERA_TRY(const int64_t place, reader.signed_varint());
      TESSERA_TRY(const ByteView bytes, reader.sized_bytes());
      add(static_cast<size_t>(shelf), place, bytes);
    }
    return {};
  }

  // Writes the blocks, filled up with zeros, and adds their checksums.
  Result<void> write(port::File& target, std::vector<BlockSums>& sums) const {
    for (const auto& [key, block] : blocks_) {
      const auto& [shelf, number] = key;
      const int64_t begin = number * layout_.block_bytes;
      TESSERA_ASSERT(block.filled ==
                     std::min(layout_.block_bytes, plan_.shelves[shelf].bytes.size() - begin));
      sums.push_back({shelf, number, {base::checksum(block.bytes)}});
      const port::Transfer written =
          target.write_at(layout_.rooms[shelf].begin + begin, block.bytes);
      TESSERA_TRY_VOID(written.status);
    }
    return {};
  }

 private:
  struct Block {
    Bytes bytes;
    int64_t filled = 0;
  };

  void add(size_t shelf, int64_t place, ByteView bytes) {
    const int64_t block_bytes = layout_.block_bytes;
    while (!bytes.empty()) {
      Block& block = blocks_[{shelf, place / block_bytes}];
      block.bytes.resize(static_cast<size_t>(block_bytes));
      const int64_t at = place % block_bytes;
      const int64_t length = std::min(block_bytes - at, std::ssize(bytes));
      std::memcpy(block.bytes.data() + at, bytes.data(), static_cast<size_t>(length));
      block.filled += length;
      place += length;
      bytes = bytes.subspan(static_cast<size_t>(length));
    }
  }

  const Plan& plan_;
  const Layout& layout_;
  std::map<std::pair<size_t, int64_t>, Block> blocks_;  // by shelf and number
};

// Collective: every fragment becomes a part of a block that is written and hashed.
Result<void> write_shared_blocks(const FillJob& job, const std::vector<Fragment>& fragments,
                                 std::vector<BlockSums>& sums) {
  const int ranks = job.exchange.size();
  std::vector<Bytes> outgoing;
  for (int rank = 0; rank < ranks; ++rank) {
    outgoing.push_back(encode_fragments(fragments, rank, ranks));
  }
  TESSERA_TRY(const std::vector<Bytes> incoming, job.exchange.all_to_all(std::move(outgoing)));
  SharedBlocks blocks(job.plan, job.layout);
  for (const Bytes& message : incoming) TESSERA_TRY_VOID(blocks.add(message));
  return blocks.write(job.target, sums);
}

std::vector<container::Allocation> allocations_of(const FillJob& job, map::AllocationId first_id) {
  std::vector<container::Allocation> allocations;
  for (size_t shelf = 0; shelf < job.plan.shelves.size(); ++shelf) {
    container::Allocation allocation;
    allocation.id = first_id + static_cast<map::AllocationId>(shelf);
    allocation.place = job.layout.rooms[shelf];
    allocation.manager = job.plan.shelves[shelf].manager;
    allocation.checksums.resize(
        static_cast<size_t>(allocation.place.length() / job.layout.block_bytes));
    allocations.push_back(std::move(allocation));
  }
  return allocations;
}

// Answers how many checksums the message held.
Result<size_t> take_sums(ByteView message, std::vector<container::Allocation>& allocations) {
  base::ByteReader reader(message);
  size_t taken = 0;
  while (!reader.at_end()) {
    TESSERA_TRY(const uint64_t shelf, reader.varint());
    TESSERA_TRY(const int64_t first, reader.signed_varint());
    TESSERA_TRY(const uint64_t count, reader.varint());
    auto& sums = allocations.at(static_cast<size_t>(shelf)).checksums;
    for (uint64_t i = 0; i < count; ++i) {
      TESSERA_TRY(sums.at(static_cast<size_t>(first) + i), reader.u64());
    }
    taken += count;
  }
  return taken;
}

Result<void> take_all_sums(const std::vector<Bytes>& messages,
                           std::vector<container::Allocation>& allocations) {
  size_t missing = 0;
  for (const auto& allocation : allocations) missing += allocation.checksums.size();
  for (const Bytes& message : messages) {
    TESSERA_TRY(const size_t taken, take_sums(message, allocations));
    missing -= taken;
  }
  TESSERA_ASSERT(missing == 0);
  return {};
}

}  // namespace

Interval share_of(Interval whole, int rank, int ranks) {
  const bool small = whole.length() / kGrainBytes < kGrainsMin * ranks;
  const int64_t grain = small ? 1 : kGrainBytes;
  const int64_t grains = base::ceil_div(whole.length(), grain);
  const auto cut = [&](int64_t of) {
    const int64_t before = grains / ranks * of + grains % ranks * of / ranks;
    return std::min(whole.end, whole.begin + before * grain);
  };
  return {cut(rank), cut(rank + 1)};
}

Result<std::vector<container::Allocation>> fill(const FillJob& job, map::AllocationId first_id,
                                                const FillOptions& options) {
  const Interval share = share_of(job.plan.hull(), job.exchange.rank(), job.exchange.size());
  port::File& target = options.direct != nullptr ? *options.direct : job.target;
  ShareWriter writer(target, job.plan, job.layout, share, piece_bytes(job, options));
  TESSERA_TRY_VOID(job.exchange.agree(write_share(job, writer, share, options)));
  std::vector<BlockSums> sums = writer.sums();
  TESSERA_TRY_VOID(job.exchange.agree(write_shared_blocks(job, writer.fragments(), sums)));
  TESSERA_TRY_VOID(job.exchange.agree(options.syncs ? job.target.sync() : Result<void>()));
  TESSERA_TRY(const std::vector<Bytes> all, job.exchange.gather(0, encode_sums(sums)));
  std::vector<container::Allocation> allocations;
  if (job.exchange.rank() == 0) allocations = allocations_of(job, first_id);
  TESSERA_TRY_VOID(job.exchange.agree(take_all_sums(all, allocations)));
  return allocations;
}

}  // namespace tessera::remap
