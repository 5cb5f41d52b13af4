// The journal: what a job did to its files, for TESSERA_REPORT and TESSERA_EXPLAIN.
//
// Each rank counts for itself, in a file of the log's folder (telemetry/counts.hpp), so that a job
// that is killed leaves its counts; MPI_Finalize gathers those of all ranks into one log and
// removes the files. docs/formats/report.md has both formats, and `tessera report` turns either
// into a page. With neither variable set nothing is counted. Thread safety: everything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/move/engine.hpp"
#include "tessera/pattern/trace.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/telemetry/counts.hpp"

namespace tessera::mpiio {

using telemetry::Stage;

// One operation that moved bytes.
struct Operation {
  move::Direction direction = move::Direction::kRead;
  bool collective = false;
  const pattern::Pattern* file = nullptr;  // which bytes were asked for
  int64_t bytes = 0;                       // how many moved
  int64_t ns = 0;
  move::Choice choice;
  move::Phases phases;
};

class Journal {
 public:
  // The one of this process.
  static Journal& get();

  // Whether anything is counted; callers measure nothing otherwise.
  [[nodiscard]] bool reports() const { return reports_; }
  [[nodiscard]] bool explains() const { return explains_; }
  [[nodiscard]] bool on() const { return reports_ || explains_; }

  void note_stage(const std::string& path, Stage stage, int64_t ns);
  // `rank` is the one in the file's group: rank 0 explains, once for each file and kind.
  void note_operation(const std::string& path, int rank, const Operation& operation);
  // How the file is locked in atomic mode.
  void note_locks(const std::string& path, const std::string& how);
  // What rank 0 writes of the replicated bytes that it was given; once for each file.
  void note_grouping(const std::string& path, int64_t bytes, std::optional<int64_t> share_bytes);
  // Which costs its choices follow.
  void note_costs(const std::string& path, const std::string& origin);
  void note_ignored_hint(const std::string& path, const std::string& what);

  // The ranks agree on where they count. Collective over all ranks of the job, at its beginning;
  // does nothing unless reports(). Without it the counts of a job that is killed are lost.
  void begin(port::Exchange& all);
  // What is counted so far outlives the process, unless it is just being counted. For MPI_Abort,
  // which a signal handler may call.
  void save();
  // Writes the log of the job. Collective over all ranks of the job; does nothing unless reports().
  void finish(port::Exchange& all);

 private:
  Journal();
  struct State;

  void explain(const std::string& path, const Operation& operation);
  bool write_log(const std::vector<base::Bytes>& texts, int ranks);

  bool reports_ = false;
  bool explains_ = false;
  State* state_;  // never destroyed: threads may end late
};

}  // namespace tessera::mpiio
