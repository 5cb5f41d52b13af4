// NodeTags: the numbers of a file's nodes, from the tags that the file gives them.
//
// Tags are any positive numbers, in any order and with gaps; nodes are numbered from 0 by ascending
// tag. Tags that follow each other, as generators write them, cost nothing to keep; others 8 bytes,
// and a table whose size follows from how many there are, never from how large they are.
// Thread safety: const functions from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/mesh/mesh.hpp"

namespace tessera::mesh {

class NodeTags {
 public:
  // The tag of the file's next node. Requires tag > 0, fewer than kMaxNodes nodes, and that nothing
  // was numbered yet.
  void add(int64_t tag);
  // Numbers the nodes, or answers a tag that two of them have. Cost: O(n), O(n log n) where the
  // largest tag is more than four times the number of nodes.
  [[nodiscard]] std::optional<int64_t> number();

  [[nodiscard]] int64_t nodes() const { return count_; }

  // The node with a tag, or -1. Requires that number() found nothing.
  [[nodiscard]] Node find(int64_t tag) const {
    if (!consecutive_) return find_in_table(tag);
    return tag >= first_ && tag - first_ < count_ ? static_cast<Node>(tag - first_) : -1;
  }

  // Values that lie in the order in which the tags were added, put in the order of the nodes.
  // Requires one for each node and that number() found nothing.
  [[nodiscard]] std::vector<Position> in_order(std::vector<Position> values) const;

 private:
  [[nodiscard]] Node find_in_table(int64_t tag) const;
  [[nodiscard]] std::optional<int64_t> fill_table();
  [[nodiscard]] std::optional<int64_t> sort_tags();

  int64_t count_ = 0;
  int64_t first_ = 0;  // the smallest tag
  int64_t last_ = 0;   // the largest
  bool consecutive_ = true;
  std::vector<int64_t> tags_;    // as added, unless consecutive_
  std::vector<Node> table_;      // by tag - first_, where tags are dense
  std::vector<int64_t> sorted_;  // by node, where they are not
};

}  // namespace tessera::mesh
