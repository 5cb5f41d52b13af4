// Superblock: the root of a container file, 4,096 bytes that say where everything else is.
//
// A container has two copies, at 0 and kSuperblockBytes. A commit replaces one after the other with
// a sync between, so at any instant at least one is whole; the one of the larger sequence counts.
// docs/formats/object-file.md describes the bytes.
//   (S1) Every byte of a copy is covered by its checksum, whose place and kind never change with
//        versions: so damage is told from a newer version.
//   (S2) encode() and decode_superblock() are inverse; equal superblocks have equal bytes.
// Thread safety: values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::container {

using pattern::Interval;

inline constexpr int64_t kSuperblockBytes = 4096;
inline constexpr int kSuperblockCopies = 2;
inline constexpr uint32_t kFormatVersion = 1;
// The bytes that have one checksum: what a small read has to fetch at least.
inline constexpr int64_t kBlockBytes = int64_t{16} << 10;
inline constexpr int64_t kBlockBytesMin = 512;
inline constexpr int64_t kBlockBytesMax = int64_t{16} << 20;
inline constexpr uint64_t kSequenceMax = std::numeric_limits<uint64_t>::max();

using FileId = std::array<std::byte, 16>;

// A compatible feature of a copy: the other one was durable at the same state when it was written.
inline constexpr uint64_t kSettled = 1;

struct Superblock {
  FileId file_id{};           // random, given at creation; kept by compaction
  uint64_t sequence = 0;      // of the commit, from 1
  uint64_t compatible = 0;    // features that readers may ignore
  uint64_t incompatible = 0;  // features that readers must know
  int64_t block_bytes = kBlockBytes;
  int64_t logical_size = 0;  // of the object file, as contents say too
  Interval blob;             // where the encoded contents are; begins at a block
  uint64_t blob_checksum = 0;
  int64_t end = 0;  // the container has at least so many bytes

  friend bool operator==(const Superblock&, const Superblock&) = default;
};

// The first byte behind both copies that may be used for anything else: a multiple of block_bytes.
[[nodiscard]] int64_t header_end(int64_t block_bytes);

// Whether this is a size that blocks may have: a power of two between the bounds.
[[nodiscard]] bool valid_block_bytes(int64_t block_bytes);

// Exactly kSuperblockBytes bytes. Requires what decode_superblock() demands.
[[nodiscard]] base::Bytes encode_superblock(const Superblock& superblock);

// Why a copy cannot be used; each asks for another reaction.
enum class CopyState {
  kGood,
  kForeign,  // no trace of an object file: the magic number is not there
  kDamaged,  // it was a superblock once, but its checksum or its fields are wrong
  kNewer,    // whole, but of a version or with features that this program does not know
};

struct SuperblockCopy {
  CopyState state = CopyState::kForeign;
  std::string reason;     // what is wrong, a part of a sentence; empty if good
  Superblock superblock;  // of a good copy
};

// Any bytes at all, also fewer than a superblock has.
[[nodiscard]] SuperblockCopy decode_superblock(base::ByteView bytes);

// Which copy counts.
struct ChosenSuperblock {
  Superblock superblock;
  int copy = 0;                                          // the one it was taken from
  std::array<SuperblockCopy, kSuperblockCopies> copies;  // as found, without kSettled
  bool settled = false;                                  // a copy of the state says so
  // A sentence for each copy that is bad.
  [[nodiscard]] std::vector<std::string> complaints() const;
  [[nodiscard]] bool both_current() const;
};

// The newest good copy of the first 2 * kSuperblockBytes bytes of a file (fewer if it is shorter).
// Fails with kInvalid if the file is not an object file or is of a newer version, with kIntegrity
// if it is too short or both copies are damaged; the sentence names `path` and what to do.
[[nodiscard]] base::Result<ChosenSuperblock> choose_superblock(base::ByteView header,
                                                               const std::string& path);

}  // namespace tessera::container
