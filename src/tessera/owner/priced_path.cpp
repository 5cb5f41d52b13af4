#include "tessera/owner/priced_path.hpp"

#include <algorithm>
#include <limits>

#include "tessera/base/assert.hpp"

namespace tessera::owner {

PricedPath::PricedPath(const Sharing& sharing)
    : sharing_(sharing), cost_(static_cast<size_t>(sharing.processes())) {
  for (const Stretch& stretch : sharing.stretches()) {
    choices_ += sharing.holders(stretch.holders).size();
  }
}

std::vector<Process> PricedPath::cheapest(std::span<const double> prices) {
  TESSERA_ASSERT(prices.size() == cost_.size());
  goes_on_.assign(choices_, false);
  best_.assign(sharing_.stretches().size(), 0);
  reached_.assign(cost_.size(), 0);
  if (best_.empty()) return {};
  walk_forward(prices);
  return walk_back();
}

void PricedPath::walk_forward(std::span<const double> prices) {
  constexpr double kNever = std::numeric_limits<double>::max();
  const auto all = sharing_.stretches();
  double least_before = 0;
  size_t choice = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto items = static_cast<double>(all[i].end - (i == 0 ? 0 : all[i - 1].end));
    const bool touches = i > 0 && !all[i].behind_gap;
    const double change = touches ? least_before + 1 : least_before;
    double least = kNever;
    for (const Process process : sharing_.holders(all[i].holders)) {
      const auto p = static_cast<size_t>(process);
      const double stay = i > 0 && reached_[p] == i ? cost_[p] : kNever;
      goes_on_[choice++] = stay <= change;
      cost_[p] = std::min(stay, change) + prices[p] * items;
      reached_[p] = i + 1;
      if (cost_[p] < least) {
        least = cost_[p];
        best_[i] = process;
      }
    }
    least_before = least;
  }
}

std::vector<Process> PricedPath::walk_back() const {
  const auto all = sharing_.stretches();
  std::vector<Process> writers(all.size());
  size_t choice = choices_;
  Process writer = best_.back();
  for (size_t i = all.size(); i-- > 0;) {
    writers[i] = writer;
    const auto holders = sharing_.holders(all[i].holders);
    choice -= holders.size();
    const auto place = std::find(holders.begin(), holders.end(), writer) - holders.begin();
    const bool goes_on = goes_on_[choice + static_cast<size_t>(place)];
    if (!goes_on && i > 0) writer = best_[i - 1];
  }
  return writers;
}

}  // namespace tessera::owner
