// $Nodes and $Elements of version 2.2.
#include "tessera/mesh/gmsh_parser.hpp"

namespace tessera::mesh {

// A count, then for each node its tag and position. The count is text in binary files too.
void GmshParser::nodes_of_2() {
  const int64_t announced = announced_nodes(in_.text_count("the number of nodes"));
  in_.end_line();
  for (int64_t i = 0; i < announced && in_.ok(); ++i) {
    const int64_t tag = in_.integer("the tag of a node");
    if (!in_.ok()) return;
    define(tag);
    read_position();
  }
}

// In text, for each element: its tag, its type, how many tags follow, these, its nodes.
void GmshParser::elements_of_2() {
  const int64_t announced = in_.text_count("the number of elements");
  in_.end_line();
  if (in_.binary()) return elements_of_2_in_binary(announced);
  for (int64_t i = 0; i < announced && in_.ok(); ++i) {
    (void)in_.integer("the tag of an element");
    const GmshType type = known_type(in_.integer("the type of an element"));
    const int64_t tags = in_.text_count("the number of an element's tags");
    for (int64_t tag = 0; tag < tags && in_.ok(); ++tag) (void)in_.integer("an element's tag");
    if (in_.ok()) corners(type);
  }
}

// In binary, elements of one type and number of tags share a header.
void GmshParser::elements_of_2_in_binary(int64_t announced) {
  for (int64_t seen = 0; seen < announced && in_.ok();) {
    const GmshType type = known_type(in_.integer("the type of elements"));
    const int64_t follow =
        in_.checked_count(in_.integer("a number of elements"), "a number of elements");
    const int64_t tags = in_.checked_count(in_.integer("a number of tags"), "a number of tags");
    if (in_.ok() && follow > announced - seen) {
      return in_.fail(std::to_string(seen + follow) + " elements or more, where " +
                      std::to_string(announced) + " are announced");
    }
    seen += follow;
    for (int64_t i = 0; i < follow && in_.ok(); ++i) {
      for (int64_t tag = 0; tag <= tags && in_.ok(); ++tag) (void)in_.integer("an element's tag");
      if (in_.ok()) corners(type);
    }
  }
}

}  // namespace tessera::mesh
