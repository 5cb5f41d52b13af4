#include <algorithm>
#include <map>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/page.hpp"
#include "tessera/move/two_phase.hpp"

namespace tessera::move {

namespace {

using base::kPageBytes;
constexpr int64_t kWindowBytesMax = int64_t{4} << 20;
// What a rank may have to send in one step, where all cells of the step are its own.
constexpr int64_t kStepBytesMax = int64_t{32} << 20;

// Whole pages that hold one of `parts` parts of so many bytes.
int64_t part_in_pages(int64_t bytes, int64_t parts) {
  return base::ceil_div(base::ceil_div(bytes, parts), kPageBytes) * kPageBytes;
}

int64_t cells_met(Interval span, int64_t cell) {
  return (span.end - 1) / cell - span.begin / cell + 1;
}

}  // namespace

int64_t window_bytes_max(const Policy& policy, int64_t aggregators) {
  const int64_t most = std::min(kWindowBytesMax, kStepBytesMax / aggregators);
  const int64_t window = std::max(kCellBytesMin, std::min(policy.cb_buffer_size / 2, most));
  return window < kPageBytes ? window : window / kPageBytes * kPageBytes;
}

int64_t cell_for(const Picture& picture, int64_t aggregators) {
  const int64_t most = window_bytes_max(picture.policy, aggregators);
  const Interval span = picture.span;
  if (aggregators == 1 || span.empty() || span.length() / aggregators >= most) return most;
  const int64_t cell = part_in_pages(span.length(), aggregators);
  const bool fits = cells_met(span, cell) <= aggregators;
  return std::min(most, fits ? cell : part_in_pages(span.length(), aggregators - 1));
}

std::vector<int> aggregators_of(std::span<const int> node, const Policy& policy) {
  TESSERA_ASSERT(!node.empty());
  std::map<int, std::vector<int>> by_node;
  for (size_t rank = 0; rank < node.size(); ++rank) {
    by_node[node[rank]].push_back(static_cast<int>(rank));
  }
  const int64_t per_node = policy.cb_per_node > 0 ? policy.cb_per_node : std::ssize(node);
  const int64_t wanted = policy.cb_nodes > 0 ? policy.cb_nodes : std::ssize(by_node);
  std::vector<int> chosen;
  for (size_t turn = 0; turn < node.size(); ++turn) {
    if (std::cmp_greater_equal(turn, per_node)) break;
    for (const auto& [_, ranks] : by_node) {
      if (std::ssize(chosen) == wanted) break;
      if (turn < ranks.size()) chosen.push_back(ranks[turn]);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace tessera::move
