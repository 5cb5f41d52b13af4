// Plans of meshes as a page with pictures.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/mesh_model.hpp"

namespace tessera::cli {

[[nodiscard]] std::string mesh_plan_page(const MeshPlanFacts& facts);

}  // namespace tessera::cli
