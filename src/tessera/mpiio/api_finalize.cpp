// MPI_Finalize: the job's log is written and everything of ours ends before MPI does. MPI_Abort:
// the counts of this rank are saved for it.
#include <cstdio>

#include "tessera/mpiio/commitment.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/group.hpp"
#include "tessera/mpiio/journal.hpp"
#include "tessera/mpiio/mpi_exchange.hpp"
#include "tessera/mpiio/native.hpp"
#include "tessera/mpiio/requests.hpp"
#include "tessera/mpiio/types.hpp"
#include "tessera/port/size_limit.hpp"

namespace tessera::mpiio {

namespace {

void write_log() {
  if (!Journal::get().reports()) return;
  MPI_Comm all = MPI_COMM_NULL;
  if (PMPI_Comm_dup(MPI_COMM_WORLD, &all) != MPI_SUCCESS) return;
  PMPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MpiExchange exchange(all);
  const port::WithoutSizeSignal quiet;
  Journal::get().finish(exchange);
  PMPI_Comm_free(&all);
}

// A log that cannot be had does not end the program.
void try_write_log() {
  const auto written = contain([]() -> base::Result<void> {
    write_log();
    return {};
  });
  if (!written) std::fprintf(stderr, "tessera: no log: %s\n", text_of(written.error()).c_str());
}

void save_counts() {
  static_cast<void>(contain([]() -> base::Result<void> {
    Journal::get().save();
    return {};
  }));
}

}  // namespace

}  // namespace tessera::mpiio

extern "C" {

int PMPI_Finalize() {
  tessera::mpiio::end_requests();
  tessera::mpiio::try_write_log();
  tessera::mpiio::end_groups();
  tessera::mpiio::end_types();
  tessera::mpiio::end_commitment();
  return TESSERA_NATIVE(MPI_Finalize)();
}

// A tool may use files until it calls PMPI_Finalize.
int MPI_Finalize() {
  const auto tool = TESSERA_TOOL(MPI_Finalize);
  return tool != nullptr ? tool() : PMPI_Finalize();
}

int PMPI_Abort(MPI_Comm comm, int error) {
  tessera::mpiio::save_counts();
  return TESSERA_NATIVE(MPI_Abort)(comm, error);
}

int MPI_Abort(MPI_Comm comm, int error) {
  const auto tool = TESSERA_TOOL(MPI_Abort);
  return tool != nullptr ? tool(comm, error) : PMPI_Abort(comm, error);
}

}  // extern "C"
