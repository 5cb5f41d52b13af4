// The sharing of an object set: any overlapping views, grouped as the nodes of a mesh are.
//
// An item is a byte that some process views, in file order; its holders are its sharers, ascending,
// and its home is the one with the smallest number. Bytes that nobody views are no items: they are
// gaps (sharing.hpp), at which every run on disk ends anyway, so a choice begins anew behind them.
// The same object set gives the same sharing and the same shares on every process.
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/object/object_set.hpp"
#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"
#include "tessera/pattern/byte_set.hpp"

namespace tessera::owner {

// What choosing writers for a million objects takes is below 100 MB and a second.
inline constexpr int64_t kMaxObjects = int64_t{1} << 20;

struct ObjectSharing {
  Sharing sharing;
  // Where the items lie in the file: the bytes of the first interval, then those of the next, and
  // so on; in order, with gaps between them.
  std::vector<pattern::Interval> pieces;
};

// The sharing of all objects, for processes 0 to the largest that has a view. Fails with
// kTooComplex if there are more than max_objects. Cost: O(objects).
[[nodiscard]] base::Result<ObjectSharing> sharing_of(const object::ObjectSet& objects,
                                                     int64_t max_objects = kMaxObjects);

// The same writers with as many intervals, whose borders are moved, within what both neighbours
// hold, to the file offset that is divisible by the largest power of two: then fewer cache lines,
// pages and blocks of a file system have two writers. Cost: O(objects + intervals).
[[nodiscard]] Writers with_aligned_borders(const ObjectSharing& objects, const Writers& writers);

// The bytes of the file that a process writes, compressed where they are regular. Requires that
// writers has the items of the sharing. Cost: O(pieces + intervals).
[[nodiscard]] pattern::ByteSet share_of(const ObjectSharing& objects, const Writers& writers,
                                        Process writer);

}  // namespace tessera::owner
