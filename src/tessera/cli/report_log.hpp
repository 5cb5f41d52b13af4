// The log that a job leaves of its I/O, read back. docs/formats/report.md describes the format.
//
// Logs are untrusted text: sizes, depths and numbers are bounded, unknown keys are passed over, so
// that logs of later versions with more in them can still be read. Thread safety: plain values and
// pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/json.hpp"
#include "tessera/base/result.hpp"

namespace tessera::cli {

// Where a rank's time went, in the order of the format.
enum class Phase : size_t { kOpen, kView, kExchange, kIo, kLock, kCopy, kSync, kClose };
inline constexpr std::array<const char*, 8> kPhases = {"open", "view", "exchange", "io",
                                                       "lock", "copy", "sync",     "close"};
using PhaseSeconds = std::array<double, kPhases.size()>;

enum class Direction { kRead, kWrite };

// run_sizes[i] runs had 2^i to 2^(i+1)-1 bytes.
inline constexpr size_t kRunClasses = 63;

struct Transfers {
  int64_t calls = 0;
  int64_t bytes = 0;
  double seconds = 0;
  std::vector<int64_t> run_sizes;  // at most kRunClasses
  // Those of independent operations; logs of older versions do not tell.
  std::optional<std::vector<int64_t>> independent_run_sizes;
};

// Operations of one kind that went one way, and why they did.
struct EngineUse {
  Direction direction = Direction::kRead;
  std::string mode;  // "independent" or "collective"
  std::string engine;
  std::string reason;
  int64_t calls = 0;
  int64_t bytes = 0;
  double seconds = 0;
};

struct RankRecord {
  int64_t rank = 0;
  int64_t opens = 0;
  Transfers read;
  Transfers write;
  PhaseSeconds seconds{};
  std::vector<EngineUse> engines;
};

struct FileRecord {
  std::string path;
  std::vector<RankRecord> ranks;
};

struct JobRecord {
  std::string program;
  std::string mpi;
  int64_t ranks = 1;
  int64_t nodes = 0;    // 0: not told
  std::string started;  // as the job wrote it
  double seconds = 0;
  bool unfinished = false;  // it did not get to MPI_Finalize, or not yet
  std::string missing;      // what the log does not hold and why; empty if nothing
  std::string library;      // version of the library that wrote it
};

struct ReportLog {
  JobRecord job;
  std::vector<FileRecord> files;
};

// What a log may take: 256 MiB of text, eight million values, which is about 200,000 pairs of a
// rank and a file.
inline constexpr base::JsonLimits kReportLimits = {int64_t{256} << 20, int64_t{1} << 23, 16};

// Fails with kInvalid and one line that names the value and what is wrong with it.
[[nodiscard]] base::Result<ReportLog> parse_report(std::string_view text);

}  // namespace tessera::cli
