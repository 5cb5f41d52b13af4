// The log of a job as text; docs/formats/report.md has its format.
//
// Thread safety: pure functions, and one that reads files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/telemetry/counts.hpp"

namespace tessera::telemetry {

// How the folders are called in which running jobs count, and jobs that were killed have counted.
inline constexpr const char* kUnfinished = ".unfinished";

// What one rank did, as a JSON array of files.
[[nodiscard]] std::string rank_text(int64_t rank, const std::vector<const FileCounts*>& files);

// How far the job came.
struct JobEnd {
  double seconds = 0;
  bool unfinished = false;  // not to MPI_Finalize
  std::string missing;      // what is not in the log and why; empty if all is
};

// The log of all ranks, from the texts of those that have one.
[[nodiscard]] std::string log_text(const JobFacts& job, const JobEnd& end,
                                   const std::vector<std::string>& rank_texts);

// The log of a job from the folder that it left, written by this version of the library. Ranks
// whose files cannot be read are left out, and JobEnd::missing says so. Fails with kNotFound if the
// folder holds no files of ranks, and as read_counts() if it can read none.
[[nodiscard]] base::Result<std::string> unfinished_log(const std::string& folder,
                                                       const std::string& version);

}  // namespace tessera::telemetry
