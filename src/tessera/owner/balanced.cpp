#include "tessera/owner/balanced.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include "tessera/owner/handover.hpp"
#include "tessera/owner/levelling.hpp"
#include "tessera/owner/load_window.hpp"
#include "tessera/owner/pieces.hpp"
#include "tessera/owner/policies.hpp"
#include "tessera/owner/priced_path.hpp"

namespace tessera::owner {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr int kRounds = 24;
constexpr double kFirstStep = 8;  // of prices, in changes of the writer; later ones are smaller

double average_load(const Sharing& sharing) {
  return static_cast<double>(sharing.items()) / sharing.processes();
}

// The largest difference of two loads that keeps the bound, as measure() computes it.
int64_t widest_window(const Sharing& sharing, double max_imbalance) {
  const double average = average_load(sharing);
  const double width = max_imbalance * average;
  if (!(width < static_cast<double>(sharing.items()))) return sharing.items();
  auto widest = static_cast<int64_t>(width) + 1;
  while (widest > 0 && static_cast<double>(widest) / average > max_imbalance) --widest;
  return widest;
}

// What a writer for each stretch comes to.
Writers by_stretch(const Sharing& sharing, std::span<const Process> writers) {
  Writers result(sharing.processes());
  int64_t begin = 0;
  for (size_t i = 0; i < writers.size(); ++i) {
    const int64_t end = sharing.stretches()[i].end;
    result.append(end - begin, writers[i]);
    begin = end;
  }
  return result;
}

// Runs on disk, which end at gaps.
int64_t changes(const Sharing& sharing, const Writers& writers) {
  return changes_of(pieces_of(sharing, writers));
}

base::Failure too_uneven(double possible, double bound) {
  char text[160];
  std::snprintf(text, sizeof text,
                "no choice of writers has an imbalance of at most %.6g; the smallest is %.6g",
                bound, possible);
  return fail(Code::kNotFound, text);
}

// The rounds: proposals by price, and the best of them that keeps the bound.
class Rounds {
 public:
  Rounds(const Sharing& sharing, double max_imbalance)
      : sharing_(sharing),
        max_imbalance_(max_imbalance),
        width_(widest_window(sharing, max_imbalance)),
        path_(sharing),
        prices_(static_cast<size_t>(sharing.processes())),
        loads_(prices_.size()) {}

  Result<Writers> run() {
    Writers proposal = optimal_writers(sharing_);
    fewest_ = changes(sharing_, proposal);
    for (int round = 0;; ++round) {
      TESSERA_TRY_VOID(consider(proposal));
      if (round == kRounds || best_changes_ == fewest_) return *std::move(best_);
      raise_prices(kFirstStep / std::sqrt(round + 1));
      proposal = by_stretch(sharing_, path_.cheapest(prices_));
    }
  }

 private:
  // Repairs a proposal that may become the best: one whose loads are not more out of bounds than
  // those of the proposals before. Levelled it is nearer to the bounds, and rarely dearer to bring
  // into them.
  Result<void> consider(const Writers& proposal) {
    loads_ = measure(proposal).items_of;
    if (best_ && (items_out_of_bounds() > least_out_of_bounds_ ||
                  changes(sharing_, proposal) >= best_changes_)) {
      return {};
    }
    TESSERA_TRY_VOID(repair(levelled(sharing_, proposal, width_)));
    if (best_changes_ == fewest_) return {};
    return repair(proposal);
  }

  Result<void> repair(const Writers& proposal) {
    if (keeps_bound(proposal)) {
      keep_if_best(proposal);
      return {};
    }
    LoadWindow window(sharing_, proposal);
    window.bring_into(width_);
    if (window.highest() - window.lowest() > width_) {
      const auto width = static_cast<double>(window.highest() - window.lowest());
      return too_uneven(width / average_load(sharing_), max_imbalance_);
    }
    bounds_ = {window.lowest(), window.highest()};
    least_out_of_bounds_ = items_out_of_bounds();
    Handover handover(sharing_, proposal);
    handover.reach(window.amounts());
    handover.absorb(bounds_);
    keep_if_best(handover.writers());
    return {};
  }

  void keep_if_best(Writers writers) {
    const int64_t count = changes(sharing_, writers);
    if (best_ && count >= best_changes_) return;
    best_ = std::move(writers);
    best_changes_ = count;
  }

  [[nodiscard]] bool keeps_bound(const Writers& writers) const {
    const auto loads = measure(writers).items_of;
    const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
    return *most - *least <= width_;
  }

  [[nodiscard]] int64_t items_out_of_bounds() const {
    int64_t count = 0;
    for (const int64_t load : loads_) count += std::abs(out_of_bounds(load));
    return count;
  }

  // Positive above the bounds, negative below.
  [[nodiscard]] int64_t out_of_bounds(int64_t load) const {
    return std::max<int64_t>(0, load - bounds_.highest) -
           std::max<int64_t>(0, bounds_.lowest - load);
  }

  [[nodiscard]] double average_length() const {
    return static_cast<double>(sharing_.items()) / static_cast<double>(fewest_ + 1);
  }

  // One price step is a change of the writer for each run of average length.
  void raise_prices(double step) {
    const double average = average_load(sharing_);
    for (size_t p = 0; p < prices_.size(); ++p) {
      const auto over = static_cast<double>(out_of_bounds(loads_[p]));
      prices_[p] += step * std::clamp(over / average, -1.0, 1.0) / average_length();
    }
  }

  const Sharing& sharing_;
  double max_imbalance_;
  int64_t width_;
  PricedPath path_;
  std::vector<double> prices_;  // by process
  std::vector<int64_t> loads_;  // of the last proposal
  LoadBounds bounds_;
  int64_t fewest_ = 0;  // changes of any choice
  std::optional<Writers> best_;
  int64_t best_changes_ = 0;
  int64_t least_out_of_bounds_ = 0;  // of the proposals that were repaired, in items
};

}  // namespace

Result<Writers> balanced_writers(const Sharing& sharing, double max_imbalance) {
  if (sharing.items() == 0) return Writers(sharing.processes());
  return Rounds(sharing, max_imbalance).run();
}

}  // namespace tessera::owner
