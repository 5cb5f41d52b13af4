#include "tessera/cli/wall_run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tessera/cli/child_output.hpp"
#include "tessera/cli/launch.hpp"
#include "tessera/cli/launcher_search.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/port/cores.hpp"
#include "tessera/port/scratch_folder.hpp"
#include "tessera/port/this_process.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

namespace {

constexpr int kRepetitions = 5;

// What a job needs that is not the same for stock and ours.
struct Job {
  Mpi mpi;
  std::string launcher;
  std::string program;
  std::string preload;  // empty for stock
  int64_t columns;
  int64_t rows;
};

Result<WallTimes> run_job(const Job& job, const std::string& folder) {
  LaunchRequest request;
  request.mpi = job.mpi;
  request.launcher = job.launcher;
  request.ranks = job.columns * job.rows;
  request.preload = job.preload;
  request.program = {job.program, folder + "/wall", std::to_string(job.columns),
                     std::to_string(job.rows), std::to_string(kRepetitions)};
  request.as_root = ::geteuid() == 0;
  request.crowded = request.ranks > port::cores();
  const LaunchCommand command = launch_command(request);
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  auto printed = output_of(command.words);
  if (!printed) return base::failure_of(printed);
  TESSERA_TRY(const WallTimes times, parse_wall_line(*printed));
  if (times.verified_bytes != times.wanted_bytes) {
    return base::fail(Code::kIntegrity,
                      fmt::format("the readers of the wall found {} of {} bytes right",
                                  times.verified_bytes, times.wanted_bytes));
  }
  return times;
}

// Stock and ours in turn, and the better of two each: what disturbs the machine disturbs both.
Result<WallRun> run_wall(Job job, const std::string& library, const std::string& folder) {
  WallRun run{job.mpi, job.columns, job.rows, {}, {}};
  for (int turn = 0; turn < 2; ++turn) {
    for (WallTimes* side : {&run.stock, &run.ours}) {
      job.preload = side == &run.ours ? library : "";
      TESSERA_TRY(const WallTimes times, run_job(job, folder));
      const bool first = side->wanted_bytes == 0;
      if (first || times.write_seconds < side->write_seconds) {
        side->write_seconds = times.write_seconds;
      }
      if (first || times.read_seconds < side->read_seconds) side->read_seconds = times.read_seconds;
      side->verified_bytes += times.verified_bytes;
      side->wanted_bytes += times.wanted_bytes;
    }
  }
  return run;
}

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", seconds * 1e3); }

std::string ratio(double stock, double ours) { return fmt::format("{:.2f}x", stock / ours); }

}  // namespace

Result<WallTimes> parse_wall_line(const std::string& line) {
  WallTimes times;
  long long verified = 0;
  long long wanted = 0;
  if (std::sscanf(line.c_str(), "write %lf read %lf verified %lld of %lld", &times.write_seconds,
                  &times.read_seconds, &verified, &wanted) != 4) {
    return base::fail(Code::kFailed, "the wall's program printed something else: " + line);
  }
  times.verified_bytes = verified;
  times.wanted_bytes = wanted;
  return times;
}

Result<std::vector<WallRun>> run_walls() {
  std::error_code error;
  const std::string above = std::filesystem::temp_directory_path(error).string();
  if (error) return base::fail(Code::kFailed, "no folder for temporary files: " + error.message());
  TESSERA_TRY(const auto scratch, port::ScratchFolder::make(above, "tessera-demo"));
  const char* path_list = std::getenv("PATH");
  std::vector<WallRun> runs;
  for (const Mpi mpi : kMpis) {
    const auto launcher = find_mpiexec(mpi, path_list == nullptr ? "" : path_list);
    const auto library = find_preload(mpi);
    const std::string program =
        port::own_program(fmt::format("tessera-tile-wall-{}", mpi_word(mpi)));
    if (!launcher || !library || ::access(program.c_str(), X_OK) != 0) continue;
    // MPICH polls: with more ranks than cores it would measure its own waiting.
    const int64_t columns = mpi == Mpi::kMpich ? std::min<int64_t>(2, port::cores()) : 2;
    const int64_t rows = mpi == Mpi::kMpich ? 1 : 2;
    TESSERA_TRY(const WallRun run,
                run_wall({mpi, *launcher, program, "", columns, rows}, *library, scratch.path()));
    runs.push_back(run);
  }
  if (runs.empty()) {
    return base::fail(Code::kNotFound,
                      "no MPI is here whose launcher, library and example program are complete");
  }
  return runs;
}

Table wall_run_table(const std::vector<WallRun>& runs) {
  using Align = Table::Align;
  Table table({{"MPI", Align::kLeft},
               {"wall"},
               {"", Align::kLeft},
               {"stock"},
               {"Tessera"},
               {"faster"},
               {"bytes verified"}});
  for (const WallRun& run : runs) {
    const std::string wall = fmt::format("{}x{}", run.columns, run.rows);
    table.add({mpi_title(run.mpi), wall, "write", milliseconds(run.stock.write_seconds),
               milliseconds(run.ours.write_seconds),
               ratio(run.stock.write_seconds, run.ours.write_seconds), ""});
    table.add({"", "", "read", milliseconds(run.stock.read_seconds),
               milliseconds(run.ours.read_seconds),
               ratio(run.stock.read_seconds, run.ours.read_seconds),
               with_commas(run.ours.verified_bytes)});
  }
  return table;
}

}  // namespace tessera::cli
