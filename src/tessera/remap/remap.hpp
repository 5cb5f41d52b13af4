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
#include <functional>
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

// In which pieces a new file is written (fill.hpp).
struct PieceOptions {
  // Files up to this size will probably be read from memory, without pushing others out of it.
  int64_t small_file_bytes = int64_t{256} << 20;
  int64_t large_shelf_bytes = int64_t{8} << 20;  // on average; smaller files of such: large pieces
};

struct RemapOptions {
  PlanOptions plan;
  FillOptions fill;
  PieceOptions pieces;
  int64_t block_bytes = container::kBlockBytes;
  bool durable = true;  // false: nothing waits for the disk, and a power loss may break (X1)
  bool direct = false;  // writes past the memory in which the system keeps files
  port::Existing existing = port::Existing::kReplace;
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
  // On the first rank: gives the complete file its name. Without it the file is readable by its
  // owner only, and options.existing says whether it replaces one.
  std::function<base::Result<void>(port::FreshFile& fresh)> publish = {};
};

// Collective, with the same consumers and options everywhere. Fails on all ranks alike: as
// make_plan(), the source and the disk do, and with kInvalid if something has the name that is not
// to be replaced.
[[nodiscard]] base::Result<RemapReport> remap(const RemapJob& job,
                                              std::span<const Consumer> consumers,
                                              const RemapOptions& options);

}  // namespace tessera::remap
