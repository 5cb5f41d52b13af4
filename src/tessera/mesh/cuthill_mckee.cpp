#include "tessera/mesh/cuthill_mckee.hpp"

#include <algorithm>
#include <cstdint>

#include "tessera/base/assert.hpp"

namespace tessera::mesh {

namespace {

// Searches for the rim of a component that go on while they find farther nodes; two or three do.
constexpr int kMostSearches = 8;

class Search {
 public:
  explicit Search(const NodalGraph& graph)
      : graph_(graph),
        searched_(static_cast<size_t>(graph.nodes()), 0),
        placed_(static_cast<size_t>(graph.nodes()), false) {
    sequence_.reserve(static_cast<size_t>(graph.nodes()));
  }

  std::vector<Node> run() {
    for (Node node = 0; node < graph_.nodes(); ++node) {
      if (!placed_[static_cast<size_t>(node)]) place_component(rim(node));
    }
    return std::move(sequence_);
  }

 private:
  // The last level of a breadth-first search, and how many levels there are.
  struct Levels {
    int64_t count = 0;
    size_t last_begin = 0;  // in reached_
  };

  [[nodiscard]] size_t degree(Node node) const { return graph_.of(node).size(); }

  Levels levels_from(Node start) {
    ++search_;
    reached_.assign(1, start);
    searched_[static_cast<size_t>(start)] = search_;
    Levels levels;
    for (size_t begin = 0; begin < reached_.size();) {
      const size_t end = reached_.size();
      levels = {.count = levels.count + 1, .last_begin = begin};
      for (; begin < end; ++begin) reach_neighbours(reached_[begin]);
    }
    return levels;
  }

  void reach_neighbours(Node node) {
    for (const Node other : graph_.of(node)) {
      int32_t& searched = searched_[static_cast<size_t>(other)];
      if (searched == search_) continue;
      searched = search_;
      reached_.push_back(other);
    }
  }

  // A node at the rim of a component: as George and Liu find it, going to the end of the deepest
  // search until it gets no deeper.
  Node rim(Node node) {
    int64_t depth = 0;
    for (int i = 0; i < kMostSearches; ++i) {
      const Levels levels = levels_from(node);
      if (levels.count <= depth) break;
      depth = levels.count;
      node = *std::min_element(reached_.begin() + static_cast<std::ptrdiff_t>(levels.last_begin),
                               reached_.end(),
                               [this](Node a, Node b) { return degree(a) < degree(b); });
    }
    return node;
  }

  void place(Node node) {
    placed_[static_cast<size_t>(node)] = true;
    sequence_.push_back(node);
  }

  void place_component(Node start) {
    size_t next = sequence_.size();
    place(start);
    for (; next < sequence_.size(); ++next) {
      const auto begin = static_cast<std::ptrdiff_t>(sequence_.size());
      for (const Node other : graph_.of(sequence_[next])) {
        if (!placed_[static_cast<size_t>(other)]) place(other);
      }
      std::stable_sort(sequence_.begin() + begin, sequence_.end(),
                       [this](Node a, Node b) { return degree(a) < degree(b); });
    }
  }

  const NodalGraph& graph_;
  int32_t search_ = 0;
  std::vector<int32_t> searched_;  // by node: the last search that reached it
  std::vector<bool> placed_;       // by node
  std::vector<Node> reached_;
  std::vector<Node> sequence_;
};

}  // namespace

std::vector<Node> cuthill_mckee(const NodalGraph& graph) { return Search(graph).run(); }

}  // namespace tessera::mesh
