#include <algorithm>
#include <map>

#include "tessera/base/assert.hpp"
#include "tessera/move/two_phase.hpp"

namespace tessera::move {

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
