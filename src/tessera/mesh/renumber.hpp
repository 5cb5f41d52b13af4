// Renumbering: the same mesh file with its nodes in another order.
//
// The order of the nodes is the order of their values in all files that programs write, so it
// decides how many runs a process's nodes make. Thread safety: different files from any threads.
#pragma once

#include <span>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::mesh {

// Writes to `to`, from its first byte, the mesh that `from` has, with node i called new_number[i].
//   (N1) Format, version, mode and byte order stay, and so does every byte that names no node:
//        coordinates are not rounded, elements keep their tags and order.
//   (N2) In Gmsh's files a node's tag becomes its new number + 1 wherever it is named: in $Nodes,
//        $Elements, $NodeData and $Periodic. Sections that are not known are refused.
//   (N3) In METIS's meshes numbers are replaced; in its graphs the lines move as well, with the
//        comments before them, and all of them are in memory meanwhile. A mesh has as many nodes
//        as the largest number it names, so a node in no element cannot become the last.
// Fails with kInvalid where the file is not a mesh or has another number of nodes; then what is in
// `to` is void. Requires a permutation: each number from 0 once.
[[nodiscard]] base::Result<void> write_renumbered(port::File& from, port::File& to,
                                                  std::span<const Node> new_number);

}  // namespace tessera::mesh
