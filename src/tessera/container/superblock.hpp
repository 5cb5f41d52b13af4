// Superblock: the root of a container file, 4,096 bytes that say where everything else is.
//
// A container has two copies. A commit replaces one after the other with a sync between, so at any
// instant at least one is whole; the one of the larger sequence counts. They lie behind page 0,
// which shows the first bytes of the object file to programs that know nothing of containers; in
// files of version 1, which have no page 0, at the very beginning. So every version has one at
// kSuperblockBytes. docs/formats/object-file.md describes the bytes.
//   (S1) Every byte of a copy is covered by its checksum, whose place and kind never change with
//        versions: so damage is told from a newer version.
//   (S2) encode() and decode_superblock() are inverse; equal superblocks have equal bytes.
//   (S3) A good copy counts only where its version has one: page 0 may hold a superblock too, as
//        bytes of the object file.
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
inline constexpr uint32_t kFormatVersion = 2;
inline constexpr uint32_t kOldestVersion = 1;
// The first bytes of the object file, at byte 0 of the container: from version 2 on.
inline constexpr int64_t kPageBytes = 4096;
// What choose_superblock() looks at: page 0 and both copies.
inline constexpr int64_t kHeaderBytes = kPageBytes + kSuperblockCopies * kSuperblockBytes;
// The bytes that have one checksum: what a small read has to fetch at least.
inline constexpr int64_t kBlockBytes = int64_t{16} << 10;
inline constexpr int64_t kBlockBytesMin = 512;
inline constexpr int64_t kBlockBytesMax = int64_t{16} << 20;
inline constexpr uint64_t kSequenceMax = std::numeric_limits<uint64_t>::max();

using FileId = std::array<std::byte, 16>;

// A compatible feature of a copy: the other one was durable at the same state when it was written.
inline constexpr uint64_t kSettled = 1;
// Another one: page 0 may be of this state, of the next or of both.
inline constexpr uint64_t kPageInFlux = 2;

struct Superblock {
  uint32_t version = kFormatVersion;  // of the file; a commit keeps it
  FileId file_id{};                   // random, given at creation; kept by compaction
  uint64_t sequence = 0;              // of the commit, from 1
  uint64_t compatible = 0;            // features that readers may ignore
  uint64_t incompatible = 0;          // features that readers must know
  int64_t block_bytes = kBlockBytes;
  int64_t logical_size = 0;  // of the object file, as contents say too
  Interval blob;             // where the encoded contents are; begins at a block
  uint64_t blob_checksum = 0;
  int64_t end = 0;  // the container has at least so many bytes

  friend bool operator==(const Superblock&, const Superblock&) = default;
};

// Whether files of this version have page 0.
[[nodiscard]] bool has_page(uint32_t version);

// Where a copy of the superblock begins in the container.
[[nodiscard]] int64_t copy_offset(uint32_t version, size_t copy);

// The first byte behind both copies that may be used for anything else: a multiple of block_bytes.
[[nodiscard]] int64_t header_end(int64_t block_bytes, uint32_t version = kFormatVersion);

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
  // Of a copy that is not good: a power loss in a commit may have left it so, sectors of it old and
  // others new. Else something has overwritten it.
  bool torn = false;
};

// Any bytes at all, also fewer than a superblock has.
[[nodiscard]] SuperblockCopy decode_superblock(base::ByteView bytes);

// Which copy counts.
struct ChosenSuperblock {
  Superblock superblock;
  int copy = 0;                                          // the one it was taken from
  std::array<SuperblockCopy, kSuperblockCopies> copies;  // as found, without marks
  bool settled = false;                                  // page 0 and both copies are durable
  bool page_in_flux = false;                             // a copy says so
  // A sentence for each copy that is bad.
  [[nodiscard]] std::vector<std::string> complaints() const;
  // The same for one copy; empty if it is good.
  [[nodiscard]] std::string complaint(size_t which) const;
  [[nodiscard]] bool both_current() const;
};

// The newest good copy in the first kHeaderBytes bytes of a file (fewer if it is shorter).
// Fails with kInvalid if the file is not an object file or is of a newer version, with kIntegrity
// if it is too short or both copies are damaged; the sentence names `path` and what to do.
[[nodiscard]] base::Result<ChosenSuperblock> choose_superblock(base::ByteView header,
                                                               const std::string& path);

}  // namespace tessera::container
