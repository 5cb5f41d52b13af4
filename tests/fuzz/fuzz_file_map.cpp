// Any bytes as an encoded file map; the checksum is made right, so that what lies behind it is
// reached. Whatever is accepted must keep the invariants of maps, survive a round trip, and go on
// being a map when it is written to.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/base/crc32c.hpp"
#include "tessera/map/map_codec.hpp"

namespace {

using namespace tessera::map;
using tessera::base::Bytes;
using tessera::pattern::ByteSet;
using tessera::pattern::Interval;

// Regular pieces are compared with each other, which is slow for many of them.
constexpr int64_t kPiecesMax = 64;

void check(const FileMap& map) {
  if (map.piece_count() <= kPiecesMax) map.check_invariants();
}

void use(FileMap map) {
  const int64_t end = map.end();
  const int64_t middle = end / 2;
  const ByteSet some = ByteSet::of(Interval{middle / 2, middle + 1}).value();
  // Too much for a stranger's map is no defect, but a wrong answer is.
  const tessera::pattern::Budget small = {1 << 10, 1 << 12};
  if (const auto found = map.find(some, small)) {
    int64_t bytes = found->missing.size();
    for (const Part& part : found->parts) {
      TESSERA_ASSERT(part.bytes.size() == part.places.size());
      bytes += part.bytes.size();
    }
    TESSERA_ASSERT(bytes == some.size());
  }
  const uint64_t epoch = map.epoch_max();
  if (map.add({some, 1, 0, epoch}, small)) {
    const auto whole = map.find_whole(some, 1, small);
    TESSERA_ASSERT(!whole || whole->allocation == 1);
  }
  if (map.truncate(middle, small)) TESSERA_ASSERT(map.end() <= middle);
  check(map);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  Bytes bytes(input.begin(), input.end());
  static_cast<void>(decode(bytes));
  tessera::base::ByteWriter(bytes).u32(tessera::base::crc32c(bytes));
  const auto map = decode(bytes);
  if (!map) return 0;
  check(*map);
  const Bytes encoded = encode(*map);
  const auto again = decode(encoded);
  TESSERA_ASSERT(again && again->covered_bytes() == map->covered_bytes());
  TESSERA_ASSERT(again->allocations() == map->allocations());
  for (const AllocationId allocation : map->allocations()) {
    TESSERA_ASSERT(again->live_bytes(allocation) == map->live_bytes(allocation));
  }
  TESSERA_ASSERT(again->epoch_max() == map->epoch_max());
  use(*again);
  return 0;
}
