#include "tessera/mpiio/commitment.hpp"

#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

namespace {

port::Guarded<MPI_Comm>& own_comm() {
  static auto& comm = *new port::Guarded<MPI_Comm>(MPI_COMM_NULL);
  return comm;
}

MPI_Comm comm_that_returns_errors() {
  return own_comm().with([](MPI_Comm& comm) {
    if (comm == MPI_COMM_NULL) {
      PMPI_Comm_dup(MPI_COMM_SELF, &comm);
      PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    return comm;
  });
}

}  // namespace

bool is_committed(MPI_Datatype type) {
  char nothing = 0;
  int position = 0;
  return PMPI_Pack(&nothing, 0, type, &nothing, 1, &position, comm_that_returns_errors()) ==
         MPI_SUCCESS;
}

void end_commitment() {
  own_comm().with([](MPI_Comm& comm) {
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
  });
}

}  // namespace tessera::mpiio
