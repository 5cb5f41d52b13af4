// The program `tessera`. It stands apart from its library, which tests link with a main of theirs.
#include "tessera/cli/command_line.hpp"

int main(int argc, char** argv) { return tessera::cli::run_command_line(argc, argv); }
