// What another program prints, for questions that only it can answer.
//
// Thread safety: one thread.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::cli {

// Runs a program (its path and its arguments), with nothing to read and nowhere to complain, and
// returns what it prints, at most 64 KiB of it. Fails with kFailed if it cannot be started, runs
// for more than 20 s, or ends with anything but 0.
[[nodiscard]] base::Result<std::string> output_of(const std::vector<std::string>& command);

// The words as exec() takes them; valid as long as they are.
[[nodiscard]] std::vector<char*> exec_words(const std::vector<std::string>& words);

}  // namespace tessera::cli
