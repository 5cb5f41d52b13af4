// Grid meshes: tetrahedral meshes of a box that are computed, of any size, for tests and
// measurements.
//
// Nodes are numbered with x fastest. Every cube of eight nodes is six tetrahedra around its
// diagonal, so neighbouring cubes share the triangles of their faces.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/mesh/mesh.hpp"

namespace tessera::mesh {

// How many nodes a box has along each axis. Requires all > 0, and at most kMaxNodes in all.
struct GridSize {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;

  [[nodiscard]] int64_t nodes() const { return x * y * z; }
  [[nodiscard]] int64_t tetrahedra() const { return 6 * (x - 1) * (y - 1) * (z - 1); }
};

namespace internal {

// The tetrahedra of a cube whose node at the origin is 0; steps are the way along each axis.
[[nodiscard]] std::array<std::array<Node, 4>, 6> cube_tetrahedra(std::array<Node, 3> steps);

}  // namespace internal

// Calls visit(std::span<const Node>) for every tetrahedron, cube by cube in the order of the nodes.
template <typename Visit>
void for_each_tetrahedron(const GridSize& size, Visit&& visit) {
  TESSERA_ASSERT(size.x > 0 && size.y > 0 && size.z > 0 && size.nodes() <= kMaxNodes);
  const auto cube =
      internal::cube_tetrahedra({1, static_cast<Node>(size.x), static_cast<Node>(size.x * size.y)});
  const auto visit_cube = [&](Node origin) {
    for (const auto& corners : cube) {
      const std::array<Node, 4> nodes{origin + corners[0], origin + corners[1], origin + corners[2],
                                      origin + corners[3]};
      visit(std::span<const Node>(nodes));
    }
  };
  for (int64_t z = 0; z + 1 < size.z; ++z) {
    for (int64_t y = 0; y + 1 < size.y; ++y) {
      const int64_t row = (z * size.y + y) * size.x;
      for (int64_t x = 0; x + 1 < size.x; ++x) visit_cube(static_cast<Node>(row + x));
    }
  }
}

// The mesh in memory, with positions: whole numbers.
[[nodiscard]] Mesh grid_mesh(const GridSize& size);

// A partition into blocks: parts.x * parts.y * parts.z of them, as even as they can be. Requires
// all > 0 and no more blocks along an axis than nodes.
[[nodiscard]] Partition grid_blocks(const GridSize& size, const GridSize& parts);

}  // namespace tessera::mesh
