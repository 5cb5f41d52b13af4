// Plain runs: one run of the file and one of memory, the most frequent move of all.
//
// It needs no pattern and no choice: a system call; or a copy, where this process comes back to
// bytes that it has moved before (kept_mapping.hpp).
// Thread safety: from any thread.
#pragma once

#include "tessera/move/costs.hpp"
#include "tessera/move/experience.hpp"
#include "tessera/move/hints.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::move {

using PlainRun = KeptMapping::Run;

// What it works with besides the run.
struct PlainMeans {
  port::PlainFile& file;
  const Hints& hints;
  const Costs& costs;
  Experience& experience;
};

// Moves the run. `bytes` of the answer is how much of it: a read ends at the end of the file.
[[nodiscard]] Transfer execute_plain(const PlainRun& run, const PlainMeans& means);

// What is known of reads to come besides.
struct ReadMeans {
  PlainMeans plain;
  int companions = 1;           // processes that read as much at the same time
  std::byte* memory = nullptr;  // where the first byte goes
};

// The part is about to be read, in runs that nobody else asks for: leaves a mapping of it in the
// experience if one read of all of it would be made through one, or, if it is short, has paid by
// now. Requires a part that is not empty.
void expect_reads(Interval part, const ReadMeans& means);

}  // namespace tessera::move
