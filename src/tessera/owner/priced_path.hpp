// The cheapest way through the stretches of a sharing when writers have prices.
//
// A change of the writer costs one, except across a gap; an item costs its writer's price. Prices
// are the same along a stretch, so it never pays to change inside one. Thread safety: none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/owner/sharing.hpp"

namespace tessera::owner {

class PricedPath {
 public:
  // The sharing must outlive it.
  explicit PricedPath(const Sharing& sharing);

  // A writer for each stretch, such that changes and prices together are the least. Requires a
  // price for each process. Cost: O(stretches + holders of all stretches).
  [[nodiscard]] std::vector<Process> cheapest(std::span<const double> prices);

 private:
  void walk_forward(std::span<const double> prices);
  [[nodiscard]] std::vector<Process> walk_back() const;

  const Sharing& sharing_;
  size_t choices_ = 0;           // holders of all stretches
  std::vector<bool> goes_on_;    // by holder of each stretch: it is best to have written before
  std::vector<Process> best_;    // where the cheapest way to a stretch's end ends
  std::vector<double> cost_;     // of the cheapest way that ends with a process
  std::vector<size_t> reached_;  // the stretch that cost_ is valid for, plus one
};

}  // namespace tessera::owner
