// $Nodes and $Elements of version 4.1: blocks, each of one entity of the geometry.
#include "tessera/mesh/gmsh_parser.hpp"

namespace tessera::mesh {

void GmshParser::nodes_of_4() {
  const int64_t blocks = in_.count("the number of blocks");
  const int64_t announced = announced_nodes(in_.count("the number of nodes"));
  (void)in_.size("the smallest tag");
  in_.replace(1);
  (void)in_.size("the largest tag");
  in_.replace(announced);
  facts_.nodes = 0;
  for (int64_t i = 0; i < blocks && in_.ok(); ++i) node_block_of_4(announced);
  if (in_.ok() && facts_.nodes != announced) {
    in_.fail("the blocks have " + std::to_string(facts_.nodes) + " nodes, where " +
             std::to_string(announced) + " are announced");
  }
}

// All tags of a block, then all positions, with places on the entity behind them if the block says
// so: one on a line, two on a face, three in a body.
void GmshParser::node_block_of_4(int64_t announced) {
  const int64_t dimension = in_.integer("the dimension of an entity");
  (void)in_.integer("the tag of an entity");
  const int64_t parametric = in_.integer("0 or 1 (parametric)");
  const int64_t count = in_.count("the number of nodes of a block");
  if (!in_.ok()) return;
  if (dimension < 0 || dimension > 3) return in_.fail("the dimension of an entity is not 0 to 3");
  if (parametric != 0 && parametric != 1) return in_.fail("parametric is neither 0 nor 1");
  if (count > announced - facts_.nodes) {
    return in_.fail("the blocks have more nodes than the " + std::to_string(announced) +
                    " that are announced");
  }
  facts_.nodes += count;
  for (int64_t i = 0; i < count && in_.ok(); ++i) {
    const int64_t tag = in_.size("the tag of a node");
    if (in_.ok()) define(tag);
  }
  const int64_t parameters = parametric * dimension;
  for (int64_t i = 0; i < count && in_.ok(); ++i) {
    read_position();
    for (int64_t j = 0; j < parameters; ++j) in_.pass_real("a parametric coordinate");
  }
}

void GmshParser::elements_of_4() {
  const int64_t blocks = in_.count("the number of blocks");
  const int64_t announced = in_.count("the number of elements");
  (void)in_.size("the smallest tag");
  (void)in_.size("the largest tag");
  int64_t seen = 0;
  for (int64_t block = 0; block < blocks && in_.ok(); ++block) {
    (void)in_.integer("the dimension of an entity");
    (void)in_.integer("the tag of an entity");
    const GmshType type = known_type(in_.integer("the type of elements"));
    const int64_t count = in_.count("the number of elements of a block");
    if (in_.ok() && count > announced - seen) {
      return in_.fail("the blocks have more elements than the " + std::to_string(announced) +
                      " that are announced");
    }
    seen += count;
    for (int64_t i = 0; i < count && in_.ok(); ++i) {
      (void)in_.size("the tag of an element");
      corners(type);
    }
  }
  if (in_.ok() && seen != announced) {
    in_.fail("the blocks have " + std::to_string(seen) + " elements, where " +
             std::to_string(announced) + " are announced");
  }
}

}  // namespace tessera::mesh
