#include "tessera/pattern/span_tree.hpp"

#include <tuple>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::pattern {

namespace {

// Numbers without a pattern out of tickets, which have one.
uint64_t scrambled(uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

}  // namespace

bool SpanTree::goes_left(Interval span, Ticket ticket, const Node& node) const {
  return std::tie(span.begin, span.end, ticket) <
         std::tie(node.span.begin, node.span.end, node.ticket);
}

SpanTree::Index SpanTree::make(Interval span, Ticket ticket) {
  const uint64_t priority = scrambled(scrambled(ticket) ^ static_cast<uint64_t>(span.begin));
  const Node node = {span, ticket, priority, kNone, kNone, span.end, ticket, ticket};
  if (free_.empty()) {
    nodes_.push_back(node);
    return base::exact_cast<Index>(nodes_.size() - 1);
  }
  const Index at = free_.back();
  free_.pop_back();
  nodes_[static_cast<size_t>(at)] = node;
  return at;
}

void SpanTree::update(Index at) {
  Node& node = nodes_[static_cast<size_t>(at)];
  node.end_max = node.span.end;
  node.ticket_min = node.ticket_max = node.ticket;
  for (const Index child : {node.left, node.right}) {
    if (child == kNone) continue;
    const Node& below = nodes_[static_cast<size_t>(child)];
    node.end_max = std::max(node.end_max, below.end_max);
    node.ticket_min = std::min(node.ticket_min, below.ticket_min);
    node.ticket_max = std::max(node.ticket_max, below.ticket_max);
  }
}

void SpanTree::split(Index at, Interval span, Ticket ticket, Index& before, Index& after) {
  if (at == kNone) {
    before = after = kNone;
    return;
  }
  Node& node = nodes_[static_cast<size_t>(at)];
  if (goes_left(span, ticket, node)) {
    split(node.left, span, ticket, before, node.left);
    after = at;
  } else {
    split(node.right, span, ticket, node.right, after);
    before = at;
  }
  update(at);
}

SpanTree::Index SpanTree::merge(Index before, Index after) {
  if (before == kNone) return after;
  if (after == kNone) return before;
  Node& first = nodes_[static_cast<size_t>(before)];
  Node& second = nodes_[static_cast<size_t>(after)];
  if (first.priority > second.priority) {
    first.right = merge(first.right, after);
    update(before);
    return before;
  }
  second.left = merge(before, second.left);
  update(after);
  return after;
}

SpanTree::Index SpanTree::insert_at(Index at, Index made) {
  if (at == kNone) return made;
  Node& node = nodes_[static_cast<size_t>(at)];
  Node& entry = nodes_[static_cast<size_t>(made)];
  if (entry.priority > node.priority) {
    split(at, entry.span, entry.ticket, entry.left, entry.right);
    update(made);
    return made;
  }
  Index& child = goes_left(entry.span, entry.ticket, node) ? node.left : node.right;
  child = insert_at(child, made);
  update(at);
  return at;
}

SpanTree::Index SpanTree::erase_at(Index at, Interval span, Ticket ticket) {
  TESSERA_ASSERT(at != kNone);
  Node& node = nodes_[static_cast<size_t>(at)];
  if (node.span == span && node.ticket == ticket) {
    free_.push_back(at);
    return merge(node.left, node.right);
  }
  Index& child = goes_left(span, ticket, node) ? node.left : node.right;
  child = erase_at(child, span, ticket);
  update(at);
  return at;
}

void SpanTree::insert(Interval span, Ticket ticket) {
  TESSERA_ASSERT(!span.empty());
  const Index made = make(span, ticket);
  root_ = insert_at(root_, made);
}

void SpanTree::erase(Interval span, Ticket ticket) { root_ = erase_at(root_, span, ticket); }

}  // namespace tessera::pattern
