// `tessera mesh renumber`: the same mesh with its nodes in another order.
//
// Thread safety: one thread.
#pragma once

#include <string>

#include "tessera/base/result.hpp"
#include "tessera/cli/exit_code.hpp"
#include "tessera/cli/mesh_source.hpp"

namespace tessera::cli {

struct MeshRenumberOptions {
  std::string path;
  std::string to;
  std::string order;
  PartitionChoice partition;         // not given: none is needed
  std::string write_partition_path;  // also write it there, in the new order, where not empty
  bool force = false;                // replace `to`
  bool json = false;
};

// Prints on standard output; errors are reported as exit_code.hpp says.
ExitCode run_mesh_renumber(const MeshRenumberOptions& options);

// What it prints. Writes the files.
[[nodiscard]] base::Result<std::string> mesh_renumber_output(const MeshRenumberOptions& options);

}  // namespace tessera::cli
