#include "tessera/container/superblock.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"

namespace tessera::container {
namespace {

using base::Code;

// A byte that is no text, a name, and line ends that a careless copy would change.
constexpr char kMagic[] = "\x89TsrO\r\n\x1a";
constexpr size_t kMagicBytes = 8;
constexpr size_t kFieldsEnd = 96;
constexpr size_t kChecksumAt = static_cast<size_t>(kSuperblockBytes) - sizeof(uint64_t);

// No features yet.
constexpr uint64_t kKnownIncompatible = 0;

bool has_magic(base::ByteView bytes) {
  return bytes.size() >= kMagicBytes &&
         base::equal(bytes.first(kMagicBytes), base::bytes_of({kMagic, kMagicBytes}));
}

bool all_zero(base::ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// What every good superblock keeps; empty if it does.
std::string contradiction(const Superblock& s) {
  if (!valid_block_bytes(s.block_bytes)) return "its block size is not possible";
  if (s.sequence == 0) return "it has no sequence number";
  if (s.logical_size < 0 || s.logical_size > pattern::kMaxPosition)
    return "its size is not possible";
  if (s.end < 0 || s.end > pattern::kMaxPosition ||
      s.blob.begin < header_end(s.block_bytes, s.version) || s.blob.begin % s.block_bytes != 0 ||
      s.blob.empty() || s.blob.end > s.end) {
    return "the place of its contents is not possible";
  }
  return {};
}

// Reads the fields behind the magic number. The caller has checked the length.
Superblock read_fields(base::ByteView bytes) {
  Superblock s;
  s.version = base::load_le<uint32_t>(bytes.subspan(8));
  s.block_bytes = base::load_le<uint32_t>(bytes.subspan(12));
  s.compatible = base::load_le<uint64_t>(bytes.subspan(16));
  s.incompatible = base::load_le<uint64_t>(bytes.subspan(24));
  std::memcpy(s.file_id.data(), bytes.data() + 32, s.file_id.size());
  s.sequence = base::load_le<uint64_t>(bytes.subspan(48));
  s.logical_size = static_cast<int64_t>(base::load_le<uint64_t>(bytes.subspan(56)));
  s.blob.begin = static_cast<int64_t>(base::load_le<uint64_t>(bytes.subspan(64)));
  s.blob.end = static_cast<int64_t>(base::load_le<uint64_t>(bytes.subspan(72)));
  s.blob_checksum = base::load_le<uint64_t>(bytes.subspan(80));
  s.end = static_cast<int64_t>(base::load_le<uint64_t>(bytes.subspan(88)));
  return s;
}

// A commit changes the fields and the checksum only: between them nothing but zeros was ever
// written, so bytes there come from somewhere else, and so does another magic number.
SuperblockCopy damaged(std::string reason, base::ByteView bytes) {
  const base::ByteView room = bytes.first(kChecksumAt).subspan(kFieldsEnd);
  return {CopyState::kDamaged, std::move(reason), {}, all_zero(room)};
}

// The copies that a layout has, of all places where there may be one.
using Places = std::array<SuperblockCopy, kSuperblockCopies + 1>;

bool is_good(const SuperblockCopy& copy, bool page) {
  return copy.state == CopyState::kGood && has_page(copy.superblock.version) == page;
}

// Whether the copies lie behind page 0. Both layouts have one in the middle, which tells unless it
// is damaged. Then the last place tells, where version 1 has zeros; for page 0 may hold anything.
bool lies_behind_page(const Places& found) {
  const SuperblockCopy& middle = found[1];
  if (middle.state == CopyState::kGood) return is_good(middle, true);
  if (middle.state == CopyState::kNewer) return true;
  const SuperblockCopy& last = found[2];
  if (is_good(last, true) || last.state == CopyState::kNewer) return true;
  if (is_good(found[0], false) || found[0].state == CopyState::kNewer) return false;
  return middle.state != CopyState::kForeign || last.state != CopyState::kForeign;
}

// `header_bytes`: of a whole header.
base::Failure unusable(const ChosenSuperblock& found, base::ByteView header, size_t header_bytes,
                       const std::string& path) {
  const auto any = [&](CopyState state) {
    return std::find_if(found.copies.begin(), found.copies.end(),
                        [&](const SuperblockCopy& copy) { return copy.state == state; });
  };
  if (const auto newer = any(CopyState::kNewer); newer != found.copies.end()) {
    return base::fail(Code::kInvalid, path + " was written by a newer Tessera (" + newer->reason +
                                          "); read it with that one");
  }
  if (all_zero(header)) {
    return base::fail(Code::kInvalid, path +
                                          " is empty or its creation was not finished: there is "
                                          "no object file in it; remove it and write it again");
  }
  const bool traces = !std::all_of(found.copies.begin(), found.copies.end(), [](const auto& copy) {
    return copy.state == CopyState::kForeign;
  });
  if (header.size() < header_bytes && traces) {
    return base::fail(Code::kIntegrity, path + " is cut off inside its header (" +
                                            std::to_string(header.size()) +
                                            " bytes); restore it from a copy");
  }
  if (const auto damaged = any(CopyState::kDamaged); damaged != found.copies.end()) {
    return base::fail(Code::kIntegrity, path + ": both superblocks are damaged (" +
                                            damaged->reason + "); restore it from a copy");
  }
  return base::fail(Code::kInvalid,
                    path + " is not an object file; open it without the prefix obj:");
}

}  // namespace

bool has_page(uint32_t version) { return version >= 2; }

int64_t copy_offset(uint32_t version, size_t copy) {
  return (has_page(version) ? kPageBytes : 0) + static_cast<int64_t>(copy) * kSuperblockBytes;
}

int64_t header_end(int64_t block_bytes, uint32_t version) {
  return base::ceil_div(copy_offset(version, kSuperblockCopies), block_bytes) * block_bytes;
}

bool valid_block_bytes(int64_t block_bytes) {
  return block_bytes >= kBlockBytesMin && block_bytes <= kBlockBytesMax &&
         std::has_single_bit(static_cast<uint64_t>(block_bytes));
}

base::Bytes encode_superblock(const Superblock& s) {
  TESSERA_ASSERT(contradiction(s).empty());
  base::Bytes bytes;
  base::ByteWriter writer(bytes);
  writer.bytes(base::bytes_of({kMagic, kMagicBytes}));
  writer.u32(s.version);
  writer.u32(static_cast<uint32_t>(s.block_bytes));
  writer.u64(s.compatible);
  writer.u64(s.incompatible);
  writer.bytes(s.file_id);
  writer.u64(s.sequence);
  writer.u64(static_cast<uint64_t>(s.logical_size));
  writer.u64(static_cast<uint64_t>(s.blob.begin));
  writer.u64(static_cast<uint64_t>(s.blob.end));
  writer.u64(s.blob_checksum);
  writer.u64(static_cast<uint64_t>(s.end));
  bytes.resize(kChecksumAt);
  const uint64_t own = base::checksum(bytes);
  base::ByteWriter(bytes).u64(own);
  return bytes;
}

SuperblockCopy decode_superblock(base::ByteView bytes) {
  if (!has_magic(bytes)) return {CopyState::kForeign, "there is no superblock", {}};
  if (bytes.size() < static_cast<size_t>(kSuperblockBytes)) {
    return {CopyState::kDamaged, "it is cut off", {}};
  }
  bytes = bytes.first(static_cast<size_t>(kSuperblockBytes));
  if (base::checksum(bytes.first(kChecksumAt)) !=
      base::load_le<uint64_t>(bytes.subspan(kChecksumAt))) {
    return damaged("its checksum does not match", bytes);
  }
  const Superblock s = read_fields(bytes);
  if (s.version > kFormatVersion) {
    return {CopyState::kNewer,
            "format version " + std::to_string(s.version) + ", this one knows " +
                std::to_string(kFormatVersion),
            {}};
  }
  if ((s.incompatible & ~kKnownIncompatible) != 0) {
    return {CopyState::kNewer, "with features that this one does not know", {}};
  }
  if (s.version == 0) return damaged("it has version 0", bytes);
  std::string reason = contradiction(s);
  if (!reason.empty()) return damaged(std::move(reason), bytes);
  return {CopyState::kGood, {}, s};
}

std::string ChosenSuperblock::complaint(size_t which) const {
  if (copies[which].state == CopyState::kGood) return {};
  return "superblock copy " + std::to_string(which) + " cannot be used (" + copies[which].reason +
         "); the other copy serves";
}

std::vector<std::string> ChosenSuperblock::complaints() const {
  std::vector<std::string> sentences;
  for (size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].state != CopyState::kGood) sentences.push_back(complaint(i));
  }
  return sentences;
}

bool ChosenSuperblock::both_current() const {
  return std::all_of(copies.begin(), copies.end(), [&](const SuperblockCopy& found) {
    return found.state == CopyState::kGood && found.superblock == superblock;
  });
}

base::Result<ChosenSuperblock> choose_superblock(base::ByteView header, const std::string& path) {
  Places places;
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t begin = std::min(header.size(), i * static_cast<size_t>(kSuperblockBytes));
    places[i] = decode_superblock(header.subspan(begin));
  }
  const bool page = lies_behind_page(places);
  ChosenSuperblock chosen;
  bool newer = false;
  for (size_t i = 0; i < chosen.copies.size(); ++i) {
    chosen.copies[i] = std::move(places[page ? i + 1 : i]);
    newer = newer || chosen.copies[i].state == CopyState::kNewer;
    if (chosen.copies[i].state != CopyState::kGood) continue;
    Superblock& found = chosen.copies[i].superblock;
    if (!is_good(chosen.copies[i], page)) {  // (S3)
      chosen.copies[i] = {CopyState::kForeign, "it is of another version", {}};
      continue;
    }
    const bool settled = (found.compatible & kSettled) != 0;
    chosen.page_in_flux = chosen.page_in_flux || (found.compatible & kPageInFlux) != 0;
    found.compatible &= ~(kSettled | kPageInFlux);
    chosen.settled = chosen.settled || settled;
    if (found.sequence <= chosen.superblock.sequence) continue;
    chosen.settled = settled;
    chosen.superblock = found;
    chosen.copy = static_cast<int>(i);
  }
  chosen.settled = chosen.settled && chosen.both_current() && !chosen.page_in_flux;
  // A newer program may have been interrupted between the copies: then ours is not the last state.
  const auto header_bytes =
      static_cast<size_t>(copy_offset(page ? kFormatVersion : kOldestVersion, kSuperblockCopies));
  if (newer || chosen.superblock.sequence == 0 || header.size() < header_bytes) {
    return unusable(chosen, header, header_bytes, path);
  }
  // Of the first state the copies are not written one after the other.
  if (chosen.superblock.sequence == 1) {
    for (SuperblockCopy& copy : chosen.copies) copy.torn = copy.state != CopyState::kGood;
  }
  return chosen;
}

}  // namespace tessera::container
