// Changes: what ranks tell each other about an object file between two commits.
//
// A write maps bytes to places of an allocation that nobody but its writer knew; a rewrite has
// changed bytes of such an allocation in their place, after which whoever manages it must learn the
// checksums of its blocks anew; a file has grown by bytes that had their places before; room was
// reserved for the contents that the next commit writes. Changes
// travel between processes of one job, which run the same program; decode_change() nevertheless
// answers any bytes with a change or an error. Thread safety: values and pure functions.
#pragma once

#include <cstdint>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/map/file_map.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::cache {

struct Change {
  enum class Kind : uint8_t { kWrite = 1, kRewrite = 2, kGrow = 3, kRoom = 4 };

  Kind kind = Kind::kWrite;
  // Of a write: where its bytes are. Of a rewrite: the allocation alone counts.
  map::Mapping mapping;
  // Of a write: where the allocation begins in the container.
  int64_t allocation_begin = 0;
  // Of a rewrite: the places that have changed lie in it. Of room: where it is in the container.
  pattern::Interval places;
  int64_t size = 0;  // of the file, if it has grown
};

[[nodiscard]] base::Bytes encode_change(const Change& change);
// Fails with kIntegrity if the bytes are not one whole change.
[[nodiscard]] base::Result<Change> decode_change(base::ByteView bytes);

}  // namespace tessera::cache
