// A program of ours that talks MPI: what a command becomes under a launcher.
//
// The command starts it in its place, once for each process of the job, with words that only the
// two of them know. What all such programs do alike is here: MPI from its beginning to its end.
// Thread safety: for main() only.
#pragma once

#include "tessera/port/exchange.hpp"

namespace tessera::mpiio {

// One process of the job.
struct MpiProcess {
  port::Exchange& exchange;
  bool leads_node;  // one process of each node does
};

struct MpiProgram {
  const char* command;  // that starts it
  int words;            // that it is started with, its name included
  int (*run)(const MpiProcess& process, char** words);  // answers the exit code
};

// Collective: runs the program in this process and answers its exit code. Started with other words
// than the command gives, it says on standard error who starts it, and answers 2.
[[nodiscard]] int run_mpi_program(const MpiProgram& program, int argc, char** argv);

}  // namespace tessera::mpiio
