#include "tessera/mesh/gmsh_parser.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera::mesh {

namespace {

// By Gmsh's number of the type; docs/formats/mesh-files.md has their names.
constexpr std::array<GmshType, 32> kTypes = {{
    {},      {2, 1},  {3, 2},  {4, 2},  {4, 3},  {8, 3},  {6, 3},  {5, 3},   // 0 to 7
    {3, 1},  {6, 2},  {9, 2},  {10, 3}, {27, 3}, {18, 3}, {14, 3}, {1, 0},   // 8 to 15
    {8, 2},  {20, 3}, {15, 3}, {13, 3}, {9, 2},  {10, 2}, {12, 2}, {15, 2},  // 16 to 23
    {15, 2}, {21, 2}, {4, 1},  {5, 1},  {6, 1},  {20, 3}, {35, 3}, {56, 3},  // 24 to 31
}};

// Sections that name no nodes, so that new numbers leave them as they are.
constexpr std::array<std::string_view, 9> kWithoutNodes = {
    "$PhysicalNames", "$Entities",        "$PartitionedEntities", "$ElementData", "$Comments",
    "$GhostElements", "$ElementNodeData", "$InterpolationScheme", "$Comment",
};

}  // namespace

GmshType gmsh_type(int64_t number) {
  return number > 0 && number < std::ssize(kTypes) ? kTypes[static_cast<size_t>(number)]
                                                   : GmshType{};
}

void GmshParser::read_format() {
  while (in_.ok() && !has_format_) section(std::string(in_.word("$MeshFormat")));
}

void GmshParser::read(MeshVisitor& visitor) {
  visitor_ = &visitor;
  parse();
}

void GmshParser::rewrite(std::span<const Node> new_number) {
  TESSERA_ASSERT(std::ssize(new_number) == tags_.nodes());
  new_number_ = new_number;
  parse();
  in_.flush_echo();
}

void GmshParser::parse() {
  while (!in_.at_end()) section(std::string(in_.word("a section")));
  in_.set_place("");
  if (!has_format_) in_.fail("the file ends without $MeshFormat");
  if (!has_nodes_) in_.fail("the file ends without $Nodes");
  if (!has_elements_) in_.fail("the file ends without $Elements");
}

void GmshParser::section(const std::string& name) {
  in_.set_place("");
  if (!name.starts_with("$")) return in_.fail(quoted(name) + " where a section should begin");
  in_.set_place(name);
  in_.end_line();
  if (name == "$MeshFormat") {
    format_section();
  } else if (name == "$Nodes") {
    nodes_section();
  } else if (name == "$Elements") {
    elements_section();
  } else if (rewriting() && has_nodes_ && name == "$NodeData") {
    node_data();
  } else if (rewriting() && has_nodes_ && name == "$Periodic") {
    periodic();
  } else {
    other_section(name);
  }
}

void GmshParser::end_section(const std::string& name) {
  const std::string expected = "$End" + name.substr(1);
  const std::string_view found = in_.word(expected.c_str());
  if (found == expected) return in_.end_line();
  in_.fail(quoted(found) + " where " + expected + " should follow what the section announces");
}

void GmshParser::other_section(const std::string& name) {
  const bool safe =
      std::find(kWithoutNodes.begin(), kWithoutNodes.end(), name) != kWithoutNodes.end();
  if (!safe && rewriting() && !new_number_.empty()) {
    return in_.fail(
        "a section that may name nodes in a way that is not known: they cannot be "
        "renumbered in it");
  }
  in_.skip_behind_line("$End" + name.substr(1));
  in_.end_line();
}

void GmshParser::format_section() {
  if (has_format_) return in_.fail("a second section of this name");
  const std::string version(in_.word("a version"));
  const int64_t mode = in_.text_integer("0 (text) or 1 (binary)");
  const int64_t size_bytes = in_.text_integer("the size of a size_t");
  if (version == "4.1") {
    facts_.format = MeshFormat::kGmsh4;
  } else if (version == "2" || version == "2.0" || version == "2.1" || version == "2.2") {
    facts_.format = MeshFormat::kGmsh2;
  } else {
    return in_.fail("version " + quoted(version) + " is not read; 2.2 and 4.1 are");
  }
  if (mode != 0 && mode != 1) return in_.fail("the mode is neither 0 (text) nor 1 (binary)");
  if (size_bytes != 4 && size_bytes != 8) return in_.fail("the data size is neither 4 nor 8");
  in_.end_line();
  facts_.binary = mode == 1;
  if (facts_.binary) byte_order(static_cast<int>(size_bytes));
  end_section("$MeshFormat");
  has_format_ = true;
}

// The number 1 as four bytes tells the order of bytes.
void GmshParser::byte_order(int size_bytes) {
  in_.set_binary(size_bytes, false);
  const int64_t one = in_.integer("the number 1");
  if (one != 1 && one != 1 << 24) in_.fail("the four bytes are the number 1 in no byte order");
  in_.set_binary(size_bytes, one != 1);
  in_.end_line();
}

void GmshParser::nodes_section() {
  if (!has_format_) return in_.fail("the section stands before $MeshFormat");
  if (has_nodes_) return in_.fail("a second section of this name");
  const int64_t first_line = in_.line();
  if (facts_.format == MeshFormat::kGmsh2) {
    nodes_of_2();
  } else {
    nodes_of_4();
  }
  if (!in_.ok()) return;
  end_section("$Nodes");
  has_nodes_ = true;
  finish_nodes(first_line);
}

// What is wrong with all of them is told of the section's first line.
void GmshParser::finish_nodes(int64_t first_line) {
  facts_.nodes = tags_.nodes();
  if (!in_.ok() || rewriting()) return;
  if (facts_.nodes == 0) return in_.fail_at(first_line, "there are no nodes");
  if (const auto twice = tags_.number()) {
    return in_.fail_at(first_line, "two nodes have the tag " + std::to_string(*twice));
  }
  visitor_->nodes(facts_.nodes, tags_.in_order(std::move(positions_)));
  positions_ = {};
}

int64_t GmshParser::announced_nodes(int64_t count) {
  if (count <= kMaxNodes) return count;
  in_.fail(std::to_string(count) + " nodes are announced; " + std::to_string(kMaxNodes) +
           " is the most");
  return 0;
}

void GmshParser::define(int64_t tag) {
  if (rewriting()) return (void)refer(tag);
  if (tag > 0) return tags_.add(tag);
  in_.fail("the tag " + std::to_string(tag) + " of a node is not positive");
}

void GmshParser::read_position() {
  Position position;
  for (double& coordinate : position) coordinate = in_.real("a coordinate");
  if (!rewriting() && in_.ok()) positions_.push_back(position);
}

Node GmshParser::refer(int64_t tag) {
  const Node node = tags_.find(tag);
  if (node < 0) {
    if (in_.ok()) in_.fail("node " + std::to_string(tag) + " is named but is not in $Nodes");
    return 0;
  }
  if (rewriting()) in_.replace(new_number_[static_cast<size_t>(node)] + int64_t{1});
  return node;
}

void GmshParser::elements_section() {
  if (!has_nodes_) return in_.fail("elements stand before the $Nodes that they name");
  if (has_elements_) return in_.fail("a second section of this name");
  if (facts_.format == MeshFormat::kGmsh2) {
    elements_of_2();
  } else {
    elements_of_4();
  }
  if (in_.ok()) end_section("$Elements");
  has_elements_ = true;
}

GmshType GmshParser::known_type(int64_t number) {
  const GmshType type = gmsh_type(number);
  if (type.nodes == 0) {
    in_.fail("elements of type " + std::to_string(number) + " are not known; types 1 to 31 are");
  } else if (!rewriting() && in_.ok() && type.dimension != dimension_) {
    dimension_ = type.dimension;
    visitor_->dimension(dimension_);
  }
  return type;
}

void GmshParser::corners(const GmshType& type) {
  const bool whole = facts_.format == MeshFormat::kGmsh4;
  const auto corners = std::span(corners_).first(static_cast<size_t>(type.nodes));
  for (Node& corner : corners) {
    corner = refer(whole ? in_.size("a node of an element") : in_.integer("a node of an element"));
  }
  if (!in_.ok()) return;
  ++facts_.elements;
  if (!rewriting()) visitor_->element(corners);
}

}  // namespace tessera::mesh
