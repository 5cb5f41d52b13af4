// MPI_Init: the ranks of a job that is reported agree on where they count, and rank 0 names
// variables that are misspelt, which nothing else would do.
#include <unistd.h>

#include <cstdio>

#include "tessera/move/variables.hpp"
#include "tessera/mpiio/fault.hpp"
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

void begin_journal() {
  if (!Journal::get().reports()) return;
  MPI_Comm all = MPI_COMM_NULL;
  if (PMPI_Comm_dup(MPI_COMM_WORLD, &all) != MPI_SUCCESS) return;
  PMPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  {
    MpiExchange exchange(all);
    Journal::get().begin(exchange);
  }
  PMPI_Comm_free(&all);
}

// A job that cannot be reported runs all the same.
int after_init(int error) {
  if (error != MPI_SUCCESS) return error;
  const auto begun = contain([]() -> base::Result<void> {
    name_misspelt_variables();
    begin_journal();
    return {};
  });
  if (!begun) std::fprintf(stderr, "tessera: no log: %s\n", text_of(begun.error()).c_str());
  return error;
}

}  // namespace

}  // namespace tessera::mpiio

extern "C" {

int PMPI_Init(int* argc, char*** argv) {
  return tessera::mpiio::after_init(TESSERA_NATIVE(MPI_Init)(argc, argv));
}

int MPI_Init(int* argc, char*** argv) {
  const auto tool = TESSERA_TOOL(MPI_Init);
  return tool != nullptr ? tool(argc, argv) : PMPI_Init(argc, argv);
}

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return tessera::mpiio::after_init(
      TESSERA_NATIVE(MPI_Init_thread)(argc, argv, required, provided));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const auto tool = TESSERA_TOOL(MPI_Init_thread);
  return tool != nullptr ? tool(argc, argv, required, provided)
                         : PMPI_Init_thread(argc, argv, required, provided);
}

}  // extern "C"
