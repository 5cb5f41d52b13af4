// Classification: which parts hold each node of a mesh.
//
// A node lies in the part that the partition gives it, its home, and is replicated in the parts of
// its neighbours: the nodes that share an element with it. A node with one holder is local, all
// others are shared. Elements are taken one at a time and none is kept, so a mesh larger than
// memory can be classified while it is read.
//   (C1) The first holder of a node is its home; the others follow in ascending order, so the same
//        mesh gives the same sharing in whatever order its elements come.
// What a node has met so far is one number, the state: first its home, then one number for each
// list of parts in the order met. Few lists differ, so the states are few, and a node that meets a
// part costs one lookup in a small table. Memory: four bytes a node beside the partition.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/owner/sharing.hpp"

namespace tessera::mesh {

class Classifier {
 public:
  // Requires parts > 0 and every part_of from 0 to parts - 1. The partition must live as long as
  // the classifier and stay as it is. Cost: O(nodes).
  explicit Classifier(const Partition& partition);

  // Requires nodes of the partition. Cost: O(nodes of the element) if one part has them all, else
  // times the parts that have some.
  void element(std::span<const Node> nodes) {
    if (is_inside(nodes)) return;
    join(nodes);
  }

  // The holders of every node, in the order of the nodes. Cost: O(nodes + lists). The classifier is
  // of no use behind it.
  [[nodiscard]] owner::Sharing finish();

 private:
  using State = int32_t;
  // A list of parts: that of another state and one part more.
  struct Longer {
    State before = 0;
    int32_t part = 0;
  };
  struct Step {
    State from = -1;
    int32_t part = 0;
    State to = 0;
  };

  [[nodiscard]] int32_t home(Node node) const {
    TESSERA_ASSERT(static_cast<size_t>(static_cast<uint32_t>(node)) < part_of_.size());
    return part_of_[static_cast<size_t>(node)];
  }
  // Whether one part has all the nodes.
  [[nodiscard]] bool is_inside(std::span<const Node> nodes) const {
    if (nodes.empty()) return true;
    const int32_t part = home(nodes.front());
    int32_t differences = 0;
    for (const Node node : nodes) differences |= home(node) ^ part;
    return differences == 0;
  }

  void join(std::span<const Node> nodes);
  [[nodiscard]] State stepped(State from, int32_t part);
  [[nodiscard]] bool names(State state, int32_t part) const;
  [[nodiscard]] State longer(State from, int32_t part);
  [[nodiscard]] size_t slot(State from, int32_t part) const;
  void grow_steps();
  [[nodiscard]] std::vector<object::Process> holders(State state) const;

  int parts_;
  std::span<const int32_t> part_of_;
  std::vector<State> state_of_;  // by node
  std::vector<Longer> longer_;   // state parts_ + i
  std::vector<Step> steps_;      // a hash table with open addressing; its size is a power of 2
  size_t steps_used_ = 0;
  std::vector<int32_t> met_parts_;  // of one element
};

// The same for a mesh in memory. Requires a partition of its nodes, as above.
[[nodiscard]] owner::Sharing classify(const Mesh& mesh, const Partition& partition);

}  // namespace tessera::mesh
