// Contents: what one commit makes durable, besides the bytes themselves.
//
// Which allocations of the container hold bytes, with a checksum for each of their blocks; the map
// from the logical bytes of the object file to places in them; the views of those who wrote; and
// attributes, text by text, for whatever comes later. The encoded form, the blob, lies in the
// container and is covered by a checksum in the superblock; docs/formats/object-file.md describes
// it.
//   (N1) Allocations have ascending ids, and places that are whole blocks behind the header and
//        do not overlap; each has one checksum a block.
//   (N2) Every place that the map names lies inside an allocation that exists.
//   (N3) decode_contents() answers any input with contents that keep (N1) and (N2), or with an
//        error, in memory proportional to the input. Sections it does not know are skipped if they
//        are marked as optional.
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/container/superblock.hpp"
#include "tessera/map/file_map.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::container {

// A run of blocks of the container that one writer filled. Place p of the allocation is byte
// place.begin + p of the container. The last block is filled up with zeros.
struct Allocation {
  map::AllocationId id = 0;
  Interval place;                   // bytes of the container, whole blocks
  int32_t manager = 0;              // the process that filled it
  std::vector<uint64_t> checksums;  // base::checksum() of each block
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

// The view through which a process wrote, as pattern::View has it.
struct WriterView {
  int32_t process = 0;
  int64_t displacement = 0;
  int64_t etype_size = 1;
  int64_t extent = 1;
  pattern::Pattern tile;
};

struct Contents {
  int64_t block_bytes = kBlockBytes;
  int64_t size = 0;  // of the object file; bytes below it that are not in the map are zeros
  map::FileMap map;
  std::vector<Allocation> allocations;
  std::vector<WriterView> views;
  std::map<std::string, std::string> attributes;

  // Null if there is none of that id. O(log allocations).
  [[nodiscard]] const Allocation* find(map::AllocationId id) const;
  // Puts an allocation in its place. Requires an id that no other has.
  void add(Allocation allocation);
  // An id that no allocation has: the one after the largest, as long as there is one.
  [[nodiscard]] map::AllocationId next_id() const;
  // Forgets the allocations of which the map shows nothing; their space is free once that is
  // committed. Returns their bytes.
  int64_t drop_unused();
  // Fails with kIntegrity if there are not plenty of ids and epochs behind those in use: writers
  // count on, and nobody who began at the smallest comes so far.
  [[nodiscard]] base::Result<void> check_numbers() const;
  // Fail with kIntegrity if (N1) does not hold, and (N1) or (N2). O(allocations), and mappings.
  [[nodiscard]] base::Result<void> check_allocations() const;
  [[nodiscard]] base::Result<void> check() const;
};

// The name of the view of a process, for people, among the attributes; empty where it is only
// called by its number, as "P3" is.
[[nodiscard]] std::string view_name(const Contents& contents, int32_t process);
void set_view_name(Contents& contents, int64_t process, const std::string& name);
void forget_view_names(Contents& contents);

// Which bytes of the object file lie at places of an allocation, for people: "bytes in [0, 4096) of
// the object file", or that there are none. O(mappings).
[[nodiscard]] std::string logical_bytes(const Contents& contents, map::AllocationId id,
                                        Interval places);

// Requires that check() succeeds.
[[nodiscard]] base::Bytes encode_contents(const Contents& contents);
// Fails with kInvalid if the blob needs a newer program, with kIntegrity or kTooComplex (see
// map_codec.hpp) if it is not what it claims to be. What another rank has checked costs less.
[[nodiscard]] base::Result<Contents> decode_contents(base::ByteView blob,
                                                     map::Origin origin = map::Origin::kStranger);

// Only the allocations, without decoding the map: what whoever looks for free space needs.
[[nodiscard]] base::Result<std::vector<Allocation>> decode_allocations(base::ByteView blob);

// Whether bytes look like the beginning of encoded contents that stand at this byte of a container.
// The first kContentsHeadBytes are looked at.
inline constexpr int64_t kContentsHeadBytes = 32;
[[nodiscard]] bool begins_contents(base::ByteView bytes, int64_t position);

}  // namespace tessera::container
