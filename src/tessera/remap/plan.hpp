// Plan: where each byte of a file goes when it is laid out for those who will read it.
//
// Every consumer gets a shelf: one allocation that holds the bytes of its view, packed in file
// order, so that it reads them in one run. Bytes that several consumers share stand either once, on
// the shelf of the first of them, or on the shelf of each. What nobody views goes to a shelf of its
// own, so that no byte of the file is lost.
//   (P1) Every byte below `size` is shown by exactly one shelf, unless the rest was left out: then
//        the bytes of all views are.
//   (P2) A shelf shows the bytes of its view that no consumer before it has; in a replicated plan
//        it holds the others of its view too, as copies.
//   (P3) Byte number i of a shelf's set, in file order, is at place i of its allocation. So the
//        bytes of a window of the file are one run of places on each shelf.
// Pure: no I/O. Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/map/file_map.hpp"
#include "tessera/object/views_file.hpp"
#include "tessera/pattern/byte_set.hpp"

namespace tessera::remap {

using pattern::ByteSet;
using pattern::Interval;

// A process that will read the file, and what it sees of it.
struct Consumer {
  int32_t process = 0;
  ByteSet bytes;
  std::string name = {};  // for people; empty: "P3"
};

// Whose shelf it is that holds what nobody views.
inline constexpr int32_t kNobody = -1;

struct Shelf {
  int32_t manager = kNobody;
  ByteSet bytes;   // all that it holds
  ByteSet copies;  // of these, what another shelf shows
};

enum class Sharing {
  kOnce,        // shared bytes stand on the shelf of their first consumer
  kReplicated,  // shared bytes stand on the shelves of all their consumers
};

struct PlanOptions {
  Sharing sharing = Sharing::kReplicated;
  bool keep_rest = true;  // also what nobody views
};

struct Plan {
  int64_t size = 0;  // of the file
  std::vector<Shelf> shelves;

  [[nodiscard]] int64_t stored_bytes() const;  // copies included
  [[nodiscard]] int64_t extra_bytes() const;   // of copies
  // The bytes of the file that the shelves need lie in it.
  [[nodiscard]] Interval hull() const;
};

// The plan for a file of `size` bytes; bytes of views behind it are left out, and so are consumers
// that have none. Fails with kTooComplex where views interleave too irregularly.
// Cost: O(consumers x parts of their views).
[[nodiscard]] base::Result<Plan> make_plan(int64_t size, std::span<const Consumer> consumers,
                                           PlanOptions options = {});

// The same shelves with only these bytes; empty ones are left out.
[[nodiscard]] base::Result<Plan> restrict_plan(const Plan& plan, const ByteSet& bytes);

// The map of a file laid out so: shelf i is allocation first_id + i. Fails with kTooComplex.
[[nodiscard]] base::Result<map::FileMap> map_of(const Plan& plan, map::AllocationId first_id,
                                                uint64_t epoch);

// The views of a views file. Fails with kInvalid if the number of a process needs more than 31
// bits.
[[nodiscard]] base::Result<std::vector<Consumer>> consumers_of(const object::ViewsFile& file);
// The views through which an object file was written, as they continue to `size`; of a process
// that has several the last. Fails with kInvalid if none were recorded.
[[nodiscard]] base::Result<std::vector<Consumer>> consumers_of(const container::Contents& contents,
                                                               int64_t size);
// The other direction: a views file of these consumers of a file of so many bytes.
[[nodiscard]] object::ViewsFile views_file_of(std::span<const Consumer> consumers, int64_t size);
// The view of a consumer of a file of so many bytes, as an object file records it. Requires a
// consumer that sees something.
[[nodiscard]] container::WriterView writer_view(const Consumer& consumer, int64_t size);
// Records the views of all consumers that see something, and their names, instead of those that
// are there.
void record_views(std::span<const Consumer> consumers, int64_t size, container::Contents& contents);

}  // namespace tessera::remap
