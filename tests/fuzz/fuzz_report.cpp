// Fuzzes logs of jobs: whatever the text says, reading and summing it up ends within bounded time
// and memory, in figures that hold together or in a one-line message.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/base/assert.hpp"
#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_totals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  using namespace tessera::cli;
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  const auto log = parse_report(text);
  if (!log) {
    TESSERA_ASSERT(!log.error().message().empty());
    TESSERA_ASSERT(log.error().message().find('\n') == std::string::npos);
    return 0;
  }
  int64_t write_bytes = 0;
  for (const FileRecord& file : log->files) {
    const FileTotals totals = totals_of(file);
    write_bytes = capped_sum(write_bytes, totals.write.bytes);
    TESSERA_ASSERT(totals.slowest_seconds >= totals.mean_seconds * 0.999);
    TESSERA_ASSERT(runs_of(totals.read) >= 0 && median_run_bytes(totals.read) >= 0);
    for (const RankRecord& rank : file.ranks) TESSERA_ASSERT(rank.rank < log->job.ranks);
  }
  TESSERA_ASSERT(totals_of(*log).write_bytes == write_bytes);
  return 0;
}
