// The command line: arguments to option structs, commands to exit codes.
//
// The only place that knows the argument parser, which is slow to compile. Commands stand in their
// own files and take plain structs, so tests and other programs call them without arguments.
// Thread safety: one thread.
#pragma once

#include "tessera/cli/bench_command.hpp"

namespace tessera::cli {

// Runs `tessera`, with `tessera bench` by `benches`; where that is empty, another program runs
// them. `argv` ends in a null pointer. Returns the exit code; see exit_code.hpp.
int run_command_line(int argc, const char* const* argv, const BenchRunner& benches = {});

}  // namespace tessera::cli
