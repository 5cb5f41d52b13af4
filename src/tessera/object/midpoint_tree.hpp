// The midpoint tree: the interval tree of paper 0 (sections E and F, Figure 3).
//
// It exists to be compared with: it is the paper's own index of objects. Every node has a position
// on the line; the root's halves the range of the file, each child's halves what is left on its
// side. An object lies at the topmost node whose position it contains, so that a node holds at most
// one of the disjoint objects, and nodes are made only on the way to an object. The depth is at
// most the number of bits of the range, but it follows where the objects lie and not how many they
// are: crowded objects give long paths without branches. FlatIndex has no such case.
//
// Thread safety: const functions from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/pattern/point.hpp"

namespace tessera::object {

class MidpointTree {
 public:
  // Requires a non-empty range; every interval inserted must lie in it.
  explicit MidpointTree(pattern::Interval range);

  // Adds an interval with the caller's id (not negative). Requires that it is not empty and meets
  // none inserted before. Cost: O(depth).
  void insert(pattern::Interval interval, int64_t id);

  // Calls visit(id, interval) for every interval that meets [a,b), in the order of the paper's
  // search: a node, then what lies left of it, then right. Cost: O(depth + r).
  template <typename Visit>
  void visit(int64_t a, int64_t b, Visit&& visit) const {
    if (a < b) visit_below(0, pattern::Interval{a, b}, visit);
  }

  // The ids that visit() gives, in ascending order.
  [[nodiscard]] std::vector<int64_t> meeting(int64_t a, int64_t b) const;

  // The position of the node that holds the id, if it was inserted. Cost: O(n); for tests.
  [[nodiscard]] std::optional<int64_t> position_of(int64_t id) const;

  [[nodiscard]] int64_t node_count() const { return static_cast<int64_t>(nodes_.size()); }
  [[nodiscard]] int depth() const { return depth_; }

 private:
  static constexpr int32_t kNone = -1;

  struct Node {
    int64_t position = 0;
    pattern::Interval interval = {};
    int64_t id = -1;  // -1: no object contains the position
    int32_t left = kNone;
    int32_t right = kNone;
  };

  template <typename Visit>
  void visit_below(int32_t at, const pattern::Interval& query, Visit& visit) const {
    while (at != kNone) {
      const Node& node = nodes_[static_cast<size_t>(at)];
      if (node.id >= 0 && node.interval.meets(query)) visit(node.id, node.interval);
      const bool left = query.begin < node.position;
      const bool right = query.end - 1 > node.position;
      if (left && right) visit_below(node.left, query, visit);
      if (!left && !right) return;
      at = right ? node.right : node.left;
    }
  }

  pattern::Interval range_;
  std::vector<Node> nodes_;
  int depth_ = 1;
};

}  // namespace tessera::object
