#include "tessera/mesh/node_tags.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera::mesh {

namespace {

// A table of Node for each of so many tags a node takes less memory than the tags themselves do.
constexpr int64_t kSpread = 4;
constexpr int64_t kSmallTable = 1024;

}  // namespace

void NodeTags::add(int64_t tag) {
  TESSERA_ASSERT(tag > 0 && count_ < kMaxNodes);
  if (count_ == 0) first_ = last_ = tag;
  // Differences of tags are numbers; a tag plus a count may be too large for one.
  if (consecutive_ && tag - first_ != count_) {
    consecutive_ = false;
    for (int64_t i = 0; i < count_; ++i) tags_.push_back(first_ + i);
  }
  if (!consecutive_) tags_.push_back(tag);
  first_ = std::min(first_, tag);
  last_ = std::max(last_, tag);
  ++count_;
}

std::optional<int64_t> NodeTags::number() {
  if (consecutive_) return std::nullopt;
  return last_ - first_ < kSpread * count_ + kSmallTable ? fill_table() : sort_tags();
}

std::optional<int64_t> NodeTags::fill_table() {
  table_.assign(static_cast<size_t>(last_ - first_ + 1), -1);
  for (const int64_t tag : tags_) {
    Node& entry = table_[static_cast<size_t>(tag - first_)];
    if (entry == 0) return tag;
    entry = 0;
  }
  Node next = 0;
  for (Node& entry : table_) {
    if (entry == 0) entry = next++;
  }
  return std::nullopt;
}

std::optional<int64_t> NodeTags::sort_tags() {
  sorted_ = tags_;
  std::sort(sorted_.begin(), sorted_.end());
  const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end());
  if (twice != sorted_.end()) return *twice;
  return std::nullopt;
}

Node NodeTags::find_in_table(int64_t tag) const {
  if (tag < first_ || tag > last_) return -1;
  if (!table_.empty()) return table_[static_cast<size_t>(tag - first_)];
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), tag);
  return *found == tag ? static_cast<Node>(found - sorted_.begin()) : -1;
}

std::vector<Position> NodeTags::in_order(std::vector<Position> values) const {
  TESSERA_ASSERT(std::ssize(values) == count_);
  if (consecutive_) return values;
  std::vector<Position> ordered(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ordered[static_cast<size_t>(find_in_table(tags_[i]))] = values[i];
  }
  return ordered;
}

}  // namespace tessera::mesh
