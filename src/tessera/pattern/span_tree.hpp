// SpanTree: intervals with tickets, for the question which of them meet another one.
//
// A search tree by begin that balances itself by random priorities; every node knows the largest
// end and the range of tickets below it, so a search leaves out what cannot meet the interval or
// cannot be later than what it has found. Intervals may overlap and repeat.
// Cost: insert and erase O(log n); memory some 64 bytes an entry. Thread safety: none for changes;
// const functions from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/pattern/point.hpp"

namespace tessera::pattern {

// The place of an entry in the order of arrival; later ones are larger.
using Ticket = uint64_t;

class SpanTree {
 public:
  // Requires a non-empty span.
  void insert(Interval span, Ticket ticket);
  // Requires that it is there.
  void erase(Interval span, Ticket ticket);

  [[nodiscard]] bool empty() const { return root_ == kNone; }
  [[nodiscard]] size_t size() const { return nodes_.size() - free_.size(); }
  [[nodiscard]] size_t memory_bytes() const { return nodes_.capacity() * sizeof(Node); }

  // The largest ticket below `before`, and above `floor`, of the entries that meet the span and
  // that accept(ticket) takes. Cost: O(log n) for each entry that is offered and not taken.
  template <typename Accept>
  [[nodiscard]] std::optional<Ticket> latest(Interval span, Ticket before, Accept accept,
                                             std::optional<Ticket> floor = std::nullopt) const {
    Search<Accept> search{span, before, accept, floor};
    walk(root_, search);
    return search.found;
  }

  // Calls visit(ticket) for every entry that meets the span, in no order.
  template <typename Visit>
  void for_each(Interval span, Visit visit) const {
    visit_from(root_, span, visit);
  }

 private:
  using Index = int32_t;
  static constexpr Index kNone = -1;

  struct Node {
    Interval span;
    Ticket ticket;
    uint64_t priority;
    Index left;
    Index right;
    int64_t end_max;  // these of the whole subtree
    Ticket ticket_min;
    Ticket ticket_max;
  };

  template <typename Accept>
  struct Search {
    Interval span;
    Ticket before;
    Accept& accept;
    std::optional<Ticket> found;  // or the floor

    [[nodiscard]] bool is_later(Ticket ticket) const { return !found || ticket > *found; }
  };

  template <typename Accept>
  void walk(Index at, Search<Accept>& search) const {
    if (at == kNone) return;
    const Node& node = nodes_[static_cast<size_t>(at)];
    if (node.end_max <= search.span.begin || node.ticket_min >= search.before ||
        !search.is_later(node.ticket_max)) {
      return;
    }
    // What lies to the right begins later.
    const Index right = node.span.begin < search.span.end ? node.right : kNone;
    const bool left_first = latest_of(node.left) >= latest_of(right);
    walk(left_first ? node.left : right, search);
    if (node.span.meets(search.span) && node.ticket < search.before &&
        search.is_later(node.ticket) && search.accept(node.ticket)) {
      search.found = node.ticket;
    }
    walk(left_first ? right : node.left, search);
  }

  template <typename Visit>
  void visit_from(Index at, Interval span, Visit& visit) const {
    if (at == kNone || nodes_[static_cast<size_t>(at)].end_max <= span.begin) return;
    const Node& node = nodes_[static_cast<size_t>(at)];
    visit_from(node.left, span, visit);
    if (node.span.meets(span)) visit(node.ticket);
    if (node.span.begin < span.end) visit_from(node.right, span, visit);
  }

  [[nodiscard]] Ticket latest_of(Index at) const {
    return at == kNone ? 0 : nodes_[static_cast<size_t>(at)].ticket_max;
  }
  [[nodiscard]] bool goes_left(Interval span, Ticket ticket, const Node& node) const;
  Index make(Interval span, Ticket ticket);
  void update(Index at);
  // Splits a subtree into the entries before (span, ticket) and the others.
  void split(Index at, Interval span, Ticket ticket, Index& before, Index& after);
  [[nodiscard]] Index merge(Index before, Index after);
  [[nodiscard]] Index insert_at(Index at, Index made);
  [[nodiscard]] Index erase_at(Index at, Interval span, Ticket ticket);

  std::vector<Node> nodes_;
  std::vector<Index> free_;
  Index root_ = kNone;
};

}  // namespace tessera::pattern
