// `tessera remap`: a file in the layout of those who will read it.
//
// Under an MPI launcher every process of the job becomes the MPI half of the command
// (tessera-remap-openmpi, tessera-remap-mpich), and they remap together. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/cli/exit_code.hpp"

namespace tessera::cli {

struct RemapCommandOptions {
  std::string in;
  std::string out;
  std::string views;        // a views file
  std::string like;         // or an object file or a views file
  bool replicate = true;    // shared bytes for each of their readers
  bool only_views = false;  // leave out what nobody views
  int64_t threads = 0;      // 0: one for each core, up to four
  bool durable = true;      // wait until the new file is on the disk
  bool direct = false;      // past the memory in which the system keeps files
  bool force = false;       // replaces a file that is there
  bool quiet = false;       // no progress, no summary
  bool json = false;
};

ExitCode run_remap(const RemapCommandOptions& options);

// The words with which the MPI half is started. What comes after its name: IN OUT VIEWS LIKE
// shared|none views|all sync|no-sync direct|buffered replace|keep text|json|quiet.
[[nodiscard]] std::vector<std::string> half_words(const std::string& program,
                                                  const RemapCommandOptions& options);

}  // namespace tessera::cli
