#include "tessera/mesh/part_order.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/assert.hpp"

namespace tessera::mesh {

namespace {

// Which parts a part touches, and with how many edges.
struct Touch {
  int32_t part = 0;
  int64_t edges = 0;
};
using Touches = std::vector<std::vector<Touch>>;  // by part

// The nodes of each part together.
std::vector<Node> nodes_by_part(const Partition& partition) {
  std::vector<size_t> ends(static_cast<size_t>(partition.parts), 0);
  for (const int32_t part : partition.part_of) ++ends[static_cast<size_t>(part)];
  size_t sum = 0;
  for (size_t& end : ends) end = std::exchange(sum, sum + end);
  std::vector<Node> nodes(partition.part_of.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[ends[static_cast<size_t>(partition.part_of[i])]++] = static_cast<Node>(i);
  }
  return nodes;
}

Touches touches_of(const NodalGraph& graph, const Partition& partition) {
  const auto parts = static_cast<size_t>(partition.parts);
  Touches touches(parts);
  std::vector<int32_t> place(parts, -1);  // of a part in the list of the part at hand
  int32_t at_hand = -1;
  for (const Node node : nodes_by_part(partition)) {
    const int32_t part = partition.part_of[static_cast<size_t>(node)];
    auto& list = touches[static_cast<size_t>(part)];
    if (part != at_hand && at_hand >= 0) {
      for (const Touch& touch : touches[static_cast<size_t>(at_hand)]) {
        place[static_cast<size_t>(touch.part)] = -1;
      }
    }
    at_hand = part;
    for (const Node other : graph.of(node)) {
      const int32_t theirs = partition.part_of[static_cast<size_t>(other)];
      if (theirs == part) continue;
      int32_t& at = place[static_cast<size_t>(theirs)];
      if (at < 0) {
        at = static_cast<int32_t>(list.size());
        list.push_back({.part = theirs});
      }
      ++list[static_cast<size_t>(at)].edges;
    }
  }
  return touches;
}

class Path {
 public:
  explicit Path(const Touches& touches) : touches_(touches), taken_(touches.size(), false) {}

  std::vector<int32_t> run() {
    while (path_.size() < touches_.size()) take(next());
    return std::move(path_);
  }

 private:
  void take(int32_t part) {
    taken_[static_cast<size_t>(part)] = true;
    path_.push_back(part);
    touching_ = path_.size();
  }

  // The part left that a part touches most.
  [[nodiscard]] std::optional<int32_t> most_touched_by(int32_t part) const {
    const Touch* most = nullptr;
    for (const Touch& touch : touches_[static_cast<size_t>(part)]) {
      if (taken_[static_cast<size_t>(touch.part)]) continue;
      if (most == nullptr || touch.edges > most->edges) most = &touch;
    }
    return most == nullptr ? std::nullopt : std::optional(most->part);
  }

  int32_t next() {
    for (; touching_ > 0; --touching_) {
      if (const auto part = most_touched_by(path_[touching_ - 1])) return *part;
    }
    return fresh();
  }

  // Of the parts left, one that touches fewest.
  [[nodiscard]] int32_t fresh() const {
    std::optional<size_t> best;
    for (size_t part = 0; part < touches_.size(); ++part) {
      if (taken_[part]) continue;
      if (!best || touches_[part].size() < touches_[*best].size()) best = part;
    }
    TESSERA_ASSERT(best.has_value());
    return static_cast<int32_t>(*best);
  }

  const Touches& touches_;
  std::vector<bool> taken_;
  std::vector<int32_t> path_;
  size_t touching_ = 0;  // parts of the path before this may touch a part that is left
};

}  // namespace

std::vector<int32_t> part_sequence(const NodalGraph& graph, const Partition& partition) {
  TESSERA_ASSERT(std::ssize(partition.part_of) == graph.nodes());
  return Path(touches_of(graph, partition)).run();
}

}  // namespace tessera::mesh
