// Plans of meshes as text and JSON.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/mesh_model.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

[[nodiscard]] std::string mesh_plan_text(const MeshPlanFacts& facts);
[[nodiscard]] std::string mesh_plan_json(const MeshPlanFacts& facts);

// A row for each policy; also for pages.
[[nodiscard]] Table mesh_policy_table(const MeshPlanFacts& facts);
// "289,650 nodes and 1,700,000 elements (Gmsh 4.1)"
[[nodiscard]] std::string mesh_line(const MeshPlanFacts& facts);
// "64 parts, made by METIS (seed 1)"
[[nodiscard]] std::string partition_line(const MeshPlanFacts& facts);

}  // namespace tessera::cli
