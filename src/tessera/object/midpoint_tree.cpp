#include "tessera/object/midpoint_tree.hpp"

#include <algorithm>
#include <limits>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::object {

namespace {

// The middle position of a half-open range; the lower of two.
int64_t middle(const pattern::Interval& range) {
  const auto length = static_cast<uint64_t>(range.end) - static_cast<uint64_t>(range.begin);
  return range.begin + static_cast<int64_t>((length - 1) / 2);
}

}  // namespace

MidpointTree::MidpointTree(pattern::Interval range) : range_(range) {
  TESSERA_ASSERT(range.begin < range.end);
  nodes_.push_back(Node{.position = middle(range)});
}

void MidpointTree::insert(pattern::Interval interval, int64_t id) {
  TESSERA_ASSERT(id >= 0);
  TESSERA_ASSERT(interval.begin < interval.end);
  TESSERA_ASSERT(interval.begin >= range_.begin && interval.end <= range_.end);
  pattern::Interval side = range_;
  size_t at = 0;
  for (int depth = 1;; ++depth) {
    depth_ = std::max(depth_, depth);
    const int64_t position = nodes_[at].position;
    if (interval.begin <= position && position < interval.end) break;
    const bool right = position < interval.begin;
    side =
        right ? pattern::Interval{position + 1, side.end} : pattern::Interval{side.begin, position};
    int32_t next = right ? nodes_[at].right : nodes_[at].left;
    if (next == kNone) {
      next = base::exact_cast<int32_t>(nodes_.size());
      nodes_.push_back(Node{.position = middle(side)});
      (right ? nodes_[at].right : nodes_[at].left) = next;
    }
    at = static_cast<size_t>(next);
  }
  TESSERA_ASSERT(nodes_[at].id < 0);
  nodes_[at].interval = interval;
  nodes_[at].id = id;
}

std::vector<int64_t> MidpointTree::meeting(int64_t a, int64_t b) const {
  std::vector<int64_t> ids;
  visit(a, b, [&ids](int64_t id, const pattern::Interval&) { ids.push_back(id); });
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::optional<int64_t> MidpointTree::position_of(int64_t id) const {
  for (const Node& node : nodes_) {
    if (node.id == id && id >= 0) return node.position;
  }
  return std::nullopt;
}

}  // namespace tessera::object
