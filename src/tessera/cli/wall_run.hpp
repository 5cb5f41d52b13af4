// The tile wall as a job: the example program under each MPI of this machine, its stock MPI-IO
// beside Tessera's. Thread safety: one thread; measures time and wants the machine for itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/cli/mpi_kind.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

// What one job of the example program printed.
struct WallTimes {
  double write_seconds = 0;  // of the slowest rank, best repetition
  double read_seconds = 0;
  int64_t verified_bytes = 0;  // found right by the readers
  int64_t wanted_bytes = 0;
};

struct WallRun {
  Mpi mpi = Mpi::kOpenMpi;
  int64_t columns = 1;
  int64_t rows = 1;
  WallTimes stock;
  WallTimes ours;
};

// Runs the wall under every MPI that has a launcher, a library and an example program here. Fails
// with kIntegrity if a reader saw a wrong byte, with kNotFound if there is no MPI at all.
[[nodiscard]] base::Result<std::vector<WallRun>> run_walls();

// The line that the program prints: "write S read S verified B of B".
[[nodiscard]] base::Result<WallTimes> parse_wall_line(const std::string& line);

[[nodiscard]] Table wall_run_table(const std::vector<WallRun>& runs);

}  // namespace tessera::cli
