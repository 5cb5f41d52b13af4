// Meshes: elements over nodes, or a graph of nodes, as files of mesh generators hold them.
//
// Nodes are numbered from 0 in the order in which their values lie in files: the order of their
// tags in a .msh file, of their numbers in the formats of METIS. An element lists its nodes; a
// graph is a mesh whose elements are its edges. What lies on nodes is what programs write, so
// elements matter here only for which nodes are neighbours: two nodes of one element are. Thread
// safety: a value.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::mesh {

// METIS counts nodes and elements in 32 bits, and so do all tables here.
using Node = int32_t;
inline constexpr int64_t kMaxNodes = INT32_MAX;

// The most nodes of one element for which the neighbours of nodes are looked for: all nodes of an
// element are neighbours, so a long one takes memory with the square of its length. A hexahedron of
// order 9 has 1000.
inline constexpr int64_t kMaxElementNodes = 1024;

using Position = std::array<double, 3>;

class Mesh {
 public:
  Mesh() = default;
  explicit Mesh(int64_t nodes) : nodes_(nodes) {}

  [[nodiscard]] int64_t nodes() const { return nodes_; }
  [[nodiscard]] int64_t elements() const { return static_cast<int64_t>(begins_.size()) - 1; }
  // Requires 0 <= index < elements().
  [[nodiscard]] std::span<const Node> element(int64_t index) const;
  // Requires nodes from 0 to nodes() - 1.
  void add_element(std::span<const Node> nodes);

  // As METIS takes them: element i has corners()[begins()[i]] to corners()[begins()[i + 1]].
  [[nodiscard]] std::span<const int64_t> begins() const { return begins_; }
  [[nodiscard]] std::span<const Node> corners() const { return corners_; }

  // One for each node, or none where the file has none.
  std::vector<Position> positions;

 private:
  int64_t nodes_ = 0;
  std::vector<int64_t> begins_ = {0};
  std::vector<Node> corners_;
};

// Where the nodes of a mesh are: the part of each node.
struct Partition {
  int parts = 0;
  std::vector<int32_t> part_of;  // by node
};

}  // namespace tessera::mesh
