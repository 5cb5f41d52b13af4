// Remapping: a new object file with the bytes of a file, laid out for those who will read it.
//
// The bytes move once, from the source to the shelves of a plan; then one commit makes a whole
// object file of them, which gets its name at last. So at any instant the name leads to what was
// there before, or to the whole new file, and the source is only read.
//   (X1) After a failure or a crash at any point the path leads to what it led to before, or to
//        the whole new file.
//   (X2) The new object file has the bytes and the size of the source, as far as the plan holds
//        them; others are zero.
//   (X3) A consumer finds all that it views in one allocation, as one run, if the plan is
//        replicated; what it shares with nobody before it in any case.
// The source may be the file that is replaced. Thread safety: collective.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/port/random.hpp"
#include "tessera/remap/fill.hpp"
#include "tessera/remap/plan.hpp"
#include "tessera/remap/source.hpp"

namespace tessera::remap {

// Which new files are kept in large pages, where the system does that: those that will probably be
// read from memory, and without pushing others out of it; and by reads so large that mappings pay.
// Where none of the largest is at hand, they are as large as kLargePieceBytes.
struct LargePageOptions {
  int64_t stored_bytes_max = int64_t{256} << 20;
  int64_t shelf_bytes_min = int64_t{8} << 20;  // on average
};

struct RemapOptions {
  PlanOptions plan;
  FillOptions fill;
  LargePageOptions large_pages;
  int64_t block_bytes = container::kBlockBytes;
  bool durable = true;  // false: nothing waits for the disk, and a power loss may break (X1)
};

struct RemapReport {
  int64_t size_bytes = 0;    // of the file
  int64_t stored_bytes = 0;  // on shelves
  int64_t extra_bytes = 0;   // of them copies
  int64_t shelves = 0;
};

struct RemapJob {
  port::Exchange& exchange;
  Source& source;
  port::Disk& disk;
  port::Random& random;
  std::string path;  // of the new file
};

// Collective, with the same consumers and options everywhere. A file path + ".remap" that an
// earlier attempt left is replaced. Fails on all ranks alike: as make_plan(), the source and the
// disk do.
[[nodiscard]] base::Result<RemapReport> remap(const RemapJob& job,
                                              std::span<const Consumer> consumers,
                                              const RemapOptions& options);

}  // namespace tessera::remap
