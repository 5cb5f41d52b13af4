// MPI_Init: the ranks of a job that is reported agree on where they count, and rank 0 names
// variables that are misspelt, which nothing else would do.
#include <unistd.h>

#include <cstdio>

#include "tessera/move/variables.hpp"
#include "tessera/mpiio/journal.hpp"
#include "tessera/mpiio/mpi_exchange.hpp"
#include "tessera/mpiio/native.hpp"

namespace tessera::mpiio {

namespace {

void name_misspelt_variables() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  for (const std::string& message : move::misspelt_variables(environ)) {
    std::fprintf(stderr, "tessera: %s\n", message.c_str());
  }
}

int after_init(int error) {
  if (error != MPI_SUCCESS) return error;
  name_misspelt_variables();
  if (!Journal::get().reports()) return error;
  MPI_Comm all = MPI_COMM_NULL;
  if (PMPI_Comm_dup(MPI_COMM_WORLD, &all) != MPI_SUCCESS) return error;
  PMPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  {
    MpiExchange exchange(all);
    Journal::get().begin(exchange);
  }
  PMPI_Comm_free(&all);
  return error;
}

}  // namespace

}  // namespace tessera::mpiio

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  return tessera::mpiio::after_init(TESSERA_NATIVE(MPI_Init)(argc, argv));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return tessera::mpiio::after_init(
      TESSERA_NATIVE(MPI_Init_thread)(argc, argv, required, provided));
}

}  // extern "C"

TESSERA_ALSO_PMPI(MPI_Init);
TESSERA_ALSO_PMPI(MPI_Init_thread);
