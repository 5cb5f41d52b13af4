#include "tessera/pattern/cursor.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera::pattern {

template <int D>
Cursor<D>::Cursor(Trace<D> trace, int64_t offset) : trace_(std::move(trace)) {
  TESSERA_ASSERT(offset >= 0 && offset <= trace_.size());
  if (offset < trace_.size()) {
    descend(trace_.shape().node.get(), trace_.size(), trace_.at(), offset);
  }
}

// Goes down to the run at `offset` inside a shape (a run of `size` bytes where it has no node) and
// leaves it pending; the frames on the way then stand at the parts after it. The trace keeps the
// nodes alive: nobody counts how many look at them.
template <int D>
void Cursor<D>::descend(const Node<D>* node, int64_t size, Point<D> at, int64_t offset) {
  while (node != nullptr) {
    if (node->count != 0) {
      const int64_t index = offset / node->child.size;
      offset %= node->child.size;
      frames_.push_back({node, at, index + 1});
      at += node->stride * index;
      size = node->child.size;
      if (node->child.is_run() && offset == 0) {
        frames_.back().index = node->count;
        pending_ = {at, size, node->count - index, node->stride};
        return;
      }
      node = node->child.node.get();
    } else {
      const auto after = std::upper_bound(node->begin.begin(), node->begin.end(), offset);
      const int64_t index = after - node->begin.begin() - 1;
      const auto i = static_cast<size_t>(index);
      offset -= node->begin[i];
      frames_.push_back({node, at, index + 1});
      at += node->at[i];
      size = node->begin[i + 1] - node->begin[i];
      node = node->item.empty() ? nullptr : node->item[i].get();
    }
  }
  pending_ = {at.advanced(offset), size - offset, 1, {}};
}

template <int D>
bool Cursor<D>::advance(Stripe<D>& stripe) {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    const Node<D>& node = *frame.node;
    const bool is_repeat = node.count != 0;
    if (frame.index == (is_repeat ? node.count : node.item_count())) {
      frames_.pop_back();
      continue;
    }
    const auto i = static_cast<size_t>(frame.index);
    const Point<D> at = frame.at + (is_repeat ? node.stride * frame.index : node.at[i]);
    if (is_repeat && node.child.is_run()) {
      stripe = {at, node.child.size, node.count - frame.index, node.stride};
      frame.index = node.count;
      return true;
    }
    ++frame.index;
    const int64_t size = is_repeat ? node.child.size : node.begin[i + 1] - node.begin[i];
    if (!is_repeat && (node.item.empty() || !node.item[i])) {
      stripe = {at, size, 1, {}};
      return true;
    }
    descend(is_repeat ? node.child.node.get() : node.item[i].get(), size, at, 0);
    stripe = pending_;
    pending_.count = 0;
    return true;
  }
  return false;
}

template <int D>
bool Cursor<D>::next(Stripe<D>& stripe) {
  if (pending_.count == 0) return advance(stripe);
  stripe = pending_;
  pending_.count = 0;
  return true;
}

template <int D>
size_t Cursor<D>::next_pieces(std::span<Piece<D>> pieces) {
  size_t filled = 0;
  while (filled < pieces.size()) {
    if (pending_.count == 0) {
      Stripe<D> found;
      if (!advance(found)) break;
      pending_ = found;
    }
    const auto room = static_cast<int64_t>(pieces.size() - filled);
    const int64_t taken = std::min(room, pending_.count);
    for (int64_t i = 0; i < taken; ++i) {
      pieces[filled++] = {pending_.at, pending_.length};
      pending_.at += pending_.stride;
    }
    pending_.count -= taken;
  }
  return filled;
}

template <int D>
std::vector<Piece<D>> expand(const Trace<D>& trace) {
  std::vector<Piece<D>> pieces(static_cast<size_t>(trace.runs()));
  Cursor<D> cursor(trace);
  const size_t filled = cursor.next_pieces(pieces);
  TESSERA_ASSERT(filled == pieces.size());
  return pieces;
}

template class Cursor<1>;
template class Cursor<2>;
template class Cursor<3>;
template std::vector<Piece<1>> expand(const Trace<1>&);
template std::vector<Piece<2>> expand(const Trace<2>&);
template std::vector<Piece<3>> expand(const Trace<3>&);

}  // namespace tessera::pattern
