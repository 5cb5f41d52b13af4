// GmshParser: the sections of a .msh file, for reading them and for writing them again.
//
// Text and binary files have the same numbers in the same order but for little, so one parser
// serves both; versions differ only in $Nodes, $Elements and $Periodic. Failures are the scanner's.
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tessera/mesh/mesh_file.hpp"
#include "tessera/mesh/mesh_scanner.hpp"
#include "tessera/mesh/node_tags.hpp"

namespace tessera::mesh {

// The shape of an element type: 0 nodes where Gmsh has no such type, or not with a fixed number.
struct GmshType {
  int nodes = 0;
  int dimension = 0;
};
[[nodiscard]] GmshType gmsh_type(int64_t number);

class GmshParser {
 public:
  // Both must outlive it.
  GmshParser(MeshScanner& in, NodeTags& tags) : in_(in), tags_(tags) {}

  // Reads the version only, from the file's first byte.
  void read_format();
  // Reads the file from its first byte and fills the tags.
  void read(MeshVisitor& visitor);
  // Goes through a file that read() accepted, with its tags, and replaces every node's tag by its
  // new number + 1. Fails on sections of which nobody knows whether they name nodes.
  void rewrite(std::span<const Node> new_number);

  [[nodiscard]] const MeshFacts& facts() const { return facts_; }

 private:
  static constexpr size_t kMaxCorners = 64;

  void parse();
  void section(const std::string& name);
  void end_section(const std::string& name);
  void other_section(const std::string& name);
  void format_section();
  void byte_order(int size_bytes);

  void nodes_section();
  void nodes_of_2();
  void nodes_of_4();
  void node_block_of_4(int64_t announced);
  void finish_nodes(int64_t first_line);
  [[nodiscard]] int64_t announced_nodes(int64_t count);
  void define(int64_t tag);
  void read_position();

  void elements_section();
  void elements_of_2();
  void elements_of_2_in_binary(int64_t announced);
  void elements_of_4();
  [[nodiscard]] GmshType known_type(int64_t number);
  void corners(const GmshType& type);
  [[nodiscard]] Node refer(int64_t tag);

  void node_data();
  void node_data_values(int64_t entries, int64_t components);
  void periodic();
  void periodic_link_of_2();
  void periodic_link_of_4();

  [[nodiscard]] bool rewriting() const { return visitor_ == nullptr; }

  MeshScanner& in_;
  NodeTags& tags_;
  MeshVisitor* visitor_ = nullptr;
  std::span<const Node> new_number_;
  MeshFacts facts_;
  bool has_format_ = false;
  bool has_nodes_ = false;
  bool has_elements_ = false;
  int dimension_ = -1;  // that the visitor heard of last
  std::vector<Position> positions_;
  std::array<Node, kMaxCorners> corners_;
};

}  // namespace tessera::mesh
