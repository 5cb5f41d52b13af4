// Sections besides $Nodes and $Elements that name nodes: values on nodes, and periodic links.
#include "tessera/mesh/gmsh_parser.hpp"

namespace tessera::mesh {

// Names, reals and integers, all as text, of which the second and third integer are how many
// values a node has and how many nodes follow.
void GmshParser::node_data() {
  const int64_t names = in_.text_count("the number of names");
  in_.end_line();
  for (int64_t i = 0; i < names && in_.ok() && !in_.at_end(); ++i) in_.skip_line();
  const int64_t reals = in_.text_count("a number of reals");
  for (int64_t i = 0; i < reals && in_.ok(); ++i) in_.pass_text_real("a real");
  const int64_t integers = in_.text_count("a number of integers");
  int64_t components = 0;
  int64_t entries = 0;
  for (int64_t i = 0; i < integers && in_.ok(); ++i) {
    const int64_t number = in_.text_integer("an integer");
    if (i == 1) components = in_.checked_count(number, "the number of components");
    if (i == 2) entries = in_.checked_count(number, "the number of values");
  }
  in_.end_line();
  node_data_values(entries, components);
  if (in_.ok()) end_section("$NodeData");
}

void GmshParser::node_data_values(int64_t entries, int64_t components) {
  for (int64_t i = 0; i < entries && in_.ok(); ++i) {
    const int64_t tag = in_.integer("the tag of a node");
    if (in_.ok()) (void)refer(tag);
    for (int64_t j = 0; j < components && in_.ok(); ++j) in_.pass_real("a value");
  }
}

// Version 2.2 writes these links as text in binary files too.
void GmshParser::periodic() {
  const bool old = facts_.format == MeshFormat::kGmsh2;
  const int64_t links = old ? in_.text_count("the number of links")  //
                            : in_.count("the number of links");
  for (int64_t i = 0; i < links && in_.ok(); ++i) {
    if (old) {
      periodic_link_of_2();
    } else {
      periodic_link_of_4();
    }
  }
  if (in_.ok()) end_section("$Periodic");
}

void GmshParser::periodic_link_of_2() {
  for (int i = 0; i < 3; ++i) (void)in_.text_integer("the dimension and tags of a link");
  in_.end_line();
  if (in_.sees("Affine")) in_.skip_line();
  const int64_t pairs = in_.text_count("the number of pairs of nodes");
  for (int64_t i = 0; i / 2 < pairs && in_.ok(); ++i) {
    const int64_t tag = in_.text_integer("the tag of a node");
    if (in_.ok()) (void)refer(tag);
  }
}

void GmshParser::periodic_link_of_4() {
  for (int i = 0; i < 3; ++i) (void)in_.integer("the dimension and tags of a link");
  const int64_t affine = in_.count("the number of affine values");
  for (int64_t i = 0; i < affine && in_.ok(); ++i) in_.pass_real("an affine value");
  const int64_t pairs = in_.count("the number of pairs of nodes");
  for (int64_t i = 0; i / 2 < pairs && in_.ok(); ++i) {
    const int64_t tag = in_.size("the tag of a node");
    if (in_.ok()) (void)refer(tag);
  }
}

}  // namespace tessera::mesh
