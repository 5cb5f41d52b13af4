// `tessera mesh plan`: which process writes the shared nodes of a mesh.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/cli/exit_code.hpp"
#include "tessera/cli/mesh_source.hpp"

namespace tessera::cli {

struct MeshPlanOptions {
  std::string path;
  PartitionChoice partition;
  std::string policy = "optimal";  // or "all"
  double max_imbalance = 0.10;     // of balanced
  std::string order = "file";
  std::string save_path;             // also save the plan there, where not empty
  std::string write_partition_path;  // also write the partition there, where not empty
  bool json = false;
  std::string html_path;
};

// Prints on standard output; errors are reported as exit_code.hpp says.
ExitCode run_mesh_plan(const MeshPlanOptions& options);

// What it prints. Writes the files that are asked for.
[[nodiscard]] base::Result<std::string> mesh_plan_output(const MeshPlanOptions& options);

}  // namespace tessera::cli
