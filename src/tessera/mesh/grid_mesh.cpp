#include "tessera/mesh/grid_mesh.hpp"

namespace tessera::mesh {

namespace internal {

std::array<std::array<Node, 4>, 6> cube_tetrahedra(std::array<Node, 3> steps) {
  constexpr std::array<std::array<size_t, 3>, 6> kWays = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  std::array<std::array<Node, 4>, 6> cube{};
  // A tetrahedron for each way along the edges from the origin to the opposite corner.
  for (size_t way = 0; way < kWays.size(); ++way) {
    for (size_t i = 0; i < 3; ++i) cube[way][i + 1] = cube[way][i] + steps[kWays[way][i]];
  }
  return cube;
}

}  // namespace internal

Mesh grid_mesh(const GridSize& size) {
  Mesh mesh(size.nodes());
  for_each_tetrahedron(size, [&mesh](std::span<const Node> nodes) { mesh.add_element(nodes); });
  mesh.positions.reserve(static_cast<size_t>(size.nodes()));
  for (int64_t z = 0; z < size.z; ++z) {
    for (int64_t y = 0; y < size.y; ++y) {
      for (int64_t x = 0; x < size.x; ++x) {
        mesh.positions.push_back(
            {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
      }
    }
  }
  return mesh;
}

Partition grid_blocks(const GridSize& size, const GridSize& parts) {
  TESSERA_ASSERT(parts.x > 0 && parts.y > 0 && parts.z > 0);
  TESSERA_ASSERT(parts.x <= size.x && parts.y <= size.y && parts.z <= size.z);
  Partition partition{.parts = static_cast<int>(parts.nodes()), .part_of = {}};
  partition.part_of.reserve(static_cast<size_t>(size.nodes()));
  for (int64_t z = 0; z < size.z; ++z) {
    const int64_t block_z = z * parts.z / size.z;
    for (int64_t y = 0; y < size.y; ++y) {
      const int64_t block_y = y * parts.y / size.y;
      for (int64_t x = 0; x < size.x; ++x) {
        const int64_t block_x = x * parts.x / size.x;
        partition.part_of.push_back(
            static_cast<int32_t>((block_z * parts.y + block_y) * parts.x + block_x));
      }
    }
  }
  return partition;
}

}  // namespace tessera::mesh
