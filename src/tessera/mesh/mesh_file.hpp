// Mesh files: meshes as generators and partitioners write them.
//
// Gmsh's .msh of versions 2.2 and 4.1, as text and binary, and the .mesh and .graph files of METIS;
// docs/formats/mesh-files.md says what is read of them. Files are streamed through a buffer of
// 1 MiB. Every failure is kInvalid with a message that names the file, the line (byte in binary
// data) and what is wrong, or the error of the file itself; memory is taken only for what the file
// really holds, never for what it claims. Thread safety: different files from any threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::mesh {

enum class MeshFormat { kGmsh2, kGmsh4, kMetisMesh, kMetisGraph };

// For people: "Gmsh 4.1", "METIS graph".
[[nodiscard]] const char* format_name(MeshFormat format);

struct MeshFacts {
  MeshFormat format = MeshFormat::kGmsh4;
  bool binary = false;
  int64_t nodes = 0;
  int64_t elements = 0;  // of all dimensions
};

// Takes what a file holds, as it is read.
class MeshVisitor {
 public:
  virtual ~MeshVisitor() = default;
  // Once, before any element. There is a position for each node, or none at all where the format
  // has none (METIS).
  virtual void nodes(int64_t count, std::vector<Position> positions) = 0;
  // The elements from here on have this dimension: 0 points, 1 lines, 2 faces, 3 bodies. Before the
  // first element and where it changes; never for METIS's meshes, which do not tell.
  virtual void dimension(int /*of_elements*/) {}
  // Of an element, in the order of the file; each is at least 0 and less than the count. The span
  // is valid during the call only.
  virtual void element(std::span<const Node> nodes) = 0;
};

// What a file is, by its first bytes and its name: "$" begins Gmsh's files, METIS's are called
// .mesh and .graph. Fails with kInvalid where it is none of these. Gmsh's are known by their
// version, so nothing behind that is looked at.
[[nodiscard]] base::Result<MeshFormat> detect_format(port::File& file);

// Visits all elements of all dimensions. What was visited before a failure is void.
[[nodiscard]] base::Result<MeshFacts> visit_mesh(port::File& file, MeshVisitor& visitor);

// Takes the elements of the highest dimension of a file and no others: those are its mesh, and the
// faces, lines and points that a .msh lists too are its rims. Which is the highest is known only at
// the end, so what was taken is void whenever a higher one begins, at most three times.
class TopVisitor : public MeshVisitor {
 public:
  void dimension(int of_elements) final;
  void element(std::span<const Node> nodes) final;

 protected:
  // All elements until now are void.
  virtual void restart() = 0;
  virtual void top_element(std::span<const Node> nodes) = 0;

 private:
  int dimension_ = 0;
  int highest_ = 0;
};

struct LoadedMesh {
  MeshFacts facts;
  Mesh mesh;  // elements of the highest dimension only
};
[[nodiscard]] base::Result<LoadedMesh> load_mesh(port::File& file);

}  // namespace tessera::mesh
