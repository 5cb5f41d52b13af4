// Measuring what transfers cost on a file system, for `tessera tune`.
//
// A scratch file is filled, read, rewritten and extended in the ways that the engines of move/ use,
// and the median of each is taken. What the engines call a small transfer has 8 to 64 bytes here, a
// large one up to 4 MB. The cache is warm, as it is for what a program has just written.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/move/profile.hpp"
#include "tessera/port/clock.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::cli {

struct TuneBudget {
  double seconds = 3;                      // about; slow file systems take a little longer
  int64_t file_bytes = int64_t{64} << 20;  // at most
};

// The least that a scratch file needs.
inline constexpr int64_t kTuneFileBytesMin = int64_t{1} << 20;

// Measures all of move::profile_fields() but those of the network. What the file system does not
// have (range locks) is left out. Fails as transfers do. Requires an empty file that is open for
// reading and writing, and budget.file_bytes >= kTuneFileBytesMin; changes its contents and size.
[[nodiscard]] base::Result<std::vector<move::MeasuredCost>> measure_costs(port::PlainFile& file,
                                                                          const port::Clock& clock,
                                                                          const TuneBudget& budget);

}  // namespace tessera::cli
