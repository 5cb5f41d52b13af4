// Starting a program from inside somebody else's program, which must not notice.
//
// The new program inherits no descriptor, has no terminal and no signal mask of ours, and its end
// raises no SIGCHLD: programs that wait for children of their own never see it.
// Thread safety: from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::port {

// Runs a program with its arguments, the first of which is its path, without the variables named,
// and waits for its end. `input` is what it reads from its standard input. Answers its exit status.
// Fails if it cannot be started or is ended by a signal. Requires that the input fits into a pipe
// (4 KiB).
[[nodiscard]] base::Result<int> run_program(const std::vector<std::string>& arguments,
                                            const std::vector<std::string>& without,
                                            std::string_view input = {});

// Closes all descriptors but 0, 1 and 2: a child then has nothing of the files and sockets of the
// process that it came from. Allocates nothing.
void close_all_but_standard();

}  // namespace tessera::port
