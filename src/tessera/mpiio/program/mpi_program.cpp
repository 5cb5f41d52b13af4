#include "tessera/mpiio/program/mpi_program.hpp"

#include <mpi.h>

#include <cstdio>
#include <string>

#include "tessera/mpiio/mpi_exchange.hpp"

namespace tessera::mpiio {

namespace {

bool leads_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank == 0;
}

}  // namespace

int run_mpi_program(const MpiProgram& program, int argc, char** argv) {
  constexpr int kUsage = 2;
  if (argc != program.words) {
    const std::string command = program.command;
    std::fprintf(stderr, "%s: this program is started by `%s`; call that\n",
                 command.substr(0, command.find(' ')).c_str(), program.command);
    return kUsage;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  int code = 0;
  {
    MpiExchange exchange(communicator);
    code = program.run({exchange, leads_node()}, argv);
  }
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  return code;
}

}  // namespace tessera::mpiio
