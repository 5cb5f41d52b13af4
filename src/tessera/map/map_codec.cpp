#include "tessera/map/map_codec.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/base/crc32c.hpp"
#include "tessera/map/chains.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::map {

using base::ByteReader;
using base::ByteView;
using base::ByteWriter;
using base::Code;
using base::fail;
using base::Result;
using pattern::Join;

namespace {

constexpr uint8_t kOptionalFlag = 0x01;  // a sized block follows that a reader may skip
constexpr size_t kChecksumBytes = sizeof(uint32_t);
// Where a list of pairs ends and the next one begins, in items.
constexpr int64_t kListItems = int64_t{1} << 20;
// What shares no shape is bounded by the input. What does takes no memory as long as it is not
// taken apart, so that few bytes must not stand for any number of items.
constexpr int64_t kItemsMin = int64_t{1} << 22;
constexpr int64_t kItemsPerByte = 16;

pattern::DecodeLimits limits_of(ByteView encoded) {
  const int64_t items = std::max(kItemsMin, kItemsPerByte * std::ssize(encoded));
  return {pattern::kMaxWeight, std::min(items, pattern::kMaxWeight)};
}

// Bytes of a list of pairs, in its order, that have one epoch.
struct EpochSpan {
  int64_t bytes = 0;
  uint64_t epoch = 0;
};

// Unsigned differences travel as signed numbers of the same 64 bits.
int64_t difference(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }
uint64_t sum(uint64_t a, int64_t b) { return a + static_cast<uint64_t>(b); }

// Pairs of one allocation that ascend in the file, with the epochs of all.
class ListWriter {
 public:
  // Whether the next piece goes into another list: one list is at most what a reader takes, unless
  // one piece alone is more, and then most of it shares nothing.
  [[nodiscard]] bool full_before(const Piece& piece) const {
    if (weight_ == 0) return false;
    return weight_ >= kListItems || piece.pairs.shape().weight() > kItemsMin - weight_;
  }

  void append(const Piece& piece) {
    weight_ += piece.pairs.shape().weight();
    pairs_.append(piece.pairs);
    if (!epochs_.empty() && epochs_.back().epoch == piece.epoch) {
      epochs_.back().bytes += piece.pairs.size();
    } else {
      epochs_.push_back({piece.pairs.size(), piece.epoch});
    }
  }

  // Requires that something was appended; the list is empty afterwards.
  base::Bytes finish() {
    base::Bytes bytes;
    ByteWriter to(bytes);
    to.varint(epochs_.size());
    uint64_t before = 0;
    for (size_t i = 0; i < epochs_.size(); ++i) {
      to.signed_varint(difference(epochs_[i].epoch, before));
      if (i + 1 < epochs_.size()) to.varint(static_cast<uint64_t>(epochs_[i].bytes));
      before = epochs_[i].epoch;
    }
    to.sized_bytes(pattern::encode(pairs_.finish_in_bounds()));
    epochs_.clear();
    weight_ = 0;
    return bytes;
  }

 private:
  pattern::Assembler<2> pairs_;
  std::vector<EpochSpan> epochs_;
  int64_t weight_ = 0;
};

void write_pieces(std::vector<Piece> pieces, ByteWriter& to) {
  std::sort(pieces.begin(), pieces.end(), begins_before);
  std::map<AllocationId, std::vector<base::Bytes>> lists;
  for (const Chain& chain : chains_of(pieces)) {
    std::vector<base::Bytes>& of_allocation = lists[chain.allocation];
    ListWriter list;
    for (const size_t i : chain.pieces) {
      if (list.full_before(pieces[i])) of_allocation.push_back(list.finish());
      list.append(pieces[i]);
    }
    of_allocation.push_back(list.finish());
  }
  to.varint(lists.size());
  for (const auto& [allocation, encoded] : lists) {
    to.signed_varint(allocation);
    to.varint(encoded.size());
    for (const base::Bytes& list : encoded) to.bytes(list);
  }
}

base::Failure damaged(const std::string& why) {
  return fail(Code::kIntegrity, "a file map is damaged: " + why);
}

Result<std::vector<EpochSpan>> read_epochs(ByteReader& from) {
  TESSERA_TRY(const uint64_t count, from.varint());
  // Each takes at least a byte, so the count cannot ask for more memory than the input has bytes.
  if (count == 0 || count > from.remaining()) return damaged("a list of epochs is cut off");
  std::vector<EpochSpan> epochs(count);
  uint64_t before = 0;
  for (size_t i = 0; i < epochs.size(); ++i) {
    TESSERA_TRY(const int64_t step, from.signed_varint());
    before = epochs[i].epoch = sum(before, step);
    if (i + 1 == epochs.size()) break;
    TESSERA_TRY(const uint64_t bytes, from.varint());
    if (bytes == 0 || bytes > static_cast<uint64_t>(pattern::kMaxPosition)) {
      return damaged("an epoch of no bytes, or of too many");
    }
    epochs[i].bytes = static_cast<int64_t>(bytes);
  }
  return epochs;
}

// Cuts pairs where their epochs change. Requires epochs; the last one has the rest of the bytes.
Result<void> split(const Join& pairs, AllocationId allocation, std::span<EpochSpan> epochs,
                   std::vector<Piece>& pieces) {
  int64_t rest = pairs.size();
  for (const EpochSpan& span : epochs.first(epochs.size() - 1)) {
    rest -= span.bytes;
    if (rest <= 0) return damaged("more bytes have epochs than are mapped");
  }
  epochs.back().bytes = rest;
  if (epochs.size() == 1) {
    pieces.push_back({allocation, epochs.front().epoch, pairs});
    return {};
  }
  auto epoch = epochs.begin();
  int64_t left = epoch->bytes;
  for (int64_t i = 0; i < pairs.part_count(); ++i) {
    const Join part = pairs.part(i);
    for (int64_t at = 0; at < part.size();) {
      const int64_t end = at + std::min(left, part.size() - at);
      pieces.push_back({allocation, epoch->epoch, part.clip({at, end})});
      left -= end - at;
      at = end;
      if (left == 0 && ++epoch != epochs.end()) left = epoch->bytes;
    }
  }
  return {};
}

Result<std::vector<Piece>> read_pieces(ByteReader& from) {
  std::vector<Piece> pieces;
  TESSERA_TRY(const uint64_t allocations, from.varint());
  for (uint64_t i = 0; i < allocations; ++i) {
    TESSERA_TRY(const int64_t allocation, from.signed_varint());
    if (!std::in_range<AllocationId>(allocation)) return damaged("an allocation has no number");
    TESSERA_TRY(const uint64_t lists, from.varint());
    for (uint64_t j = 0; j < lists; ++j) {
      TESSERA_TRY(std::vector<EpochSpan> epochs, read_epochs(from));
      TESSERA_TRY(const ByteView encoded, from.sized_bytes());
      TESSERA_TRY(const Join pairs, pattern::decode<2>(encoded, limits_of(encoded)));
      if (pairs.empty()) return damaged("a list of no pairs");
      TESSERA_TRY_VOID(split(pairs, static_cast<AllocationId>(allocation), epochs, pieces));
    }
  }
  return pieces;
}

Result<ByteView> checked_content(ByteView bytes) {
  if (bytes.size() < kChecksumBytes) return damaged("it is too short");
  const ByteView content = bytes.first(bytes.size() - kChecksumBytes);
  if (base::load_le<uint32_t>(bytes.last(kChecksumBytes)) != base::crc32c(content)) {
    return damaged("its checksum is wrong");
  }
  return content;
}

Result<void> read_head(ByteReader& from) {
  TESSERA_TRY(const uint8_t version, from.u8());
  if (version != kMapVersion) {
    return fail(Code::kIntegrity, "a file map of version " + std::to_string(version) +
                                      ", and this program knows version " +
                                      std::to_string(kMapVersion) + " only: use a newer one");
  }
  TESSERA_TRY(const uint8_t flags, from.u8());
  if ((flags & ~kOptionalFlag) != 0) {
    return fail(Code::kIntegrity, "a file map uses features (flags " + std::to_string(flags) +
                                      ") that this program does not know: use a newer one");
  }
  if ((flags & kOptionalFlag) != 0) {
    TESSERA_TRY(const ByteView skipped, from.sized_bytes());
    static_cast<void>(skipped);
  }
  return {};
}

}  // namespace

base::Bytes encode(const FileMap& map) {
  base::Bytes bytes;
  ByteWriter to(bytes);
  to.u8(kMapVersion);
  to.u8(0);
  to.varint(map.epoch_max());
  std::vector<Piece> visible;
  map.for_each([&](const Piece& piece) { visible.push_back(piece); });
  write_pieces(std::move(visible), to);
  std::vector<Piece> replicas;
  map.for_each_replica([&](const Piece& piece) { replicas.push_back(piece); });
  write_pieces(std::move(replicas), to);
  to.u32(base::crc32c(bytes));
  return bytes;
}

Result<FileMap> decode(ByteView bytes, Origin origin) {
  TESSERA_TRY(const ByteView content, checked_content(bytes));
  ByteReader from(content);
  TESSERA_TRY_VOID(read_head(from));
  TESSERA_TRY(const uint64_t epoch_max, from.varint());
  TESSERA_TRY(const std::vector<Piece> visible, read_pieces(from));
  TESSERA_TRY(const std::vector<Piece> replicas, read_pieces(from));
  TESSERA_TRY_VOID(from.expect_end());
  return FileMap::of(visible, replicas, epoch_max, origin);
}

}  // namespace tessera::map
