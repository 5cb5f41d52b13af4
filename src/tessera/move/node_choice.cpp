#include "tessera/move/node_choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/move/amounts.hpp"
#include "tessera/move/two_phase.hpp"

namespace tessera::move {

namespace {

// All-gathers and reductions of a two-phase move besides its steps: the lists of cells with their
// sizes, and the verdict.
constexpr double kMeetings = 3;

double number(int64_t value) { return static_cast<double>(value); }

// What a two-phase move handles.
struct Windows {
  double bytes = 0;   // of the file, gaps included
  double rounds = 1;  // cells of it
  bool has_gaps = false;
};

class Times {
 public:
  explicit Times(const Crossing& crossing)
      : picture_(crossing.picture),
        costs_(crossing.picture.policy.costs),
        reads_(crossing.direction == Direction::kRead),
        ranks_(number(std::max<int64_t>(1, std::ssize(crossing.picture.ranks)))) {
    for (size_t rank = 0; rank < crossing.node.size(); ++rank) {
      Load& load = loads_[crossing.node[rank]];
      const Summary& summary = picture_.ranks[rank];
      const bool gapless = !reads_ && !picture_.spans_disjoint;
      const Price& price = gapless ? summary.gapless : summary.alone;
      (price.takes_turns ? load.in_turns_ns : load.side_by_side_ns) += price.ns;
      ++load.ranks;
    }
  }

  // The nodes work at the same time, as far as the file system serves them.
  [[nodiscard]] double apart_ns() const {
    double busiest = 0;
    double all = 0;
    for (const auto& [_, load] : loads_) {
      const double ns = load.in_turns_ns + load.side_by_side_ns / cores_for(load);
      busiest = std::max(busiest, ns);
      all += ns;
    }
    return std::max(busiest, all / served(nodes()));
  }

  [[nodiscard]] double two_phase_ns(int64_t aggregators, const Windows& windows) const {
    const double lanes = std::min(number(aggregators), nodes());
    const double steps = std::ceil(windows.rounds / number(aggregators));
    return message_ns(number(aggregators), steps) + link_ns(lanes) + copy_ns(number(aggregators)) +
           file_ns(windows, steps, served(lanes));
  }

  // As far as can be told before there is a schedule, if so many bytes of the file are moved.
  [[nodiscard]] double two_phase_ns(int64_t aggregators, int64_t window_bytes) const {
    const int64_t cell = cell_for(picture_, aggregators);
    const auto rounds = number(std::max<int64_t>(1, base::ceil_div(window_bytes, cell)));
    return two_phase_ns(aggregators, {number(window_bytes), rounds, picture_.bytes < window_bytes});
  }

 private:
  // Of one node.
  struct Load {
    double in_turns_ns = 0;
    double side_by_side_ns = 0;
    double ranks = 0;
  };

  [[nodiscard]] double nodes() const { return number(std::ssize(loads_)); }
  [[nodiscard]] double cores_for(const Load& load) const {
    return std::clamp(number(picture_.policy.cores), 1.0, std::max(1.0, load.ranks));
  }
  [[nodiscard]] double served(double at_once) const {
    return std::clamp(costs_.nodes_served, 1.0, std::max(1.0, at_once));
  }

  // Of the busiest rank: an aggregator hears from all ranks in a step, and tells the others.
  [[nodiscard]] double message_ns(double aggregators, double steps) const {
    const double meeting = std::ceil(std::log2(ranks_));
    const double exchanges = reads_ ? steps + 1 : steps;
    const double messages = exchanges * (ranks_ - 1 + aggregators - 1 + meeting);
    return (messages + kMeetings * meeting) * costs_.message_ns;
  }

  // Through the link of an aggregator's node, all but what comes from the node itself.
  [[nodiscard]] double link_ns(double lanes) const {
    return number(picture_.bytes) / lanes * (1 - 1 / nodes()) * costs_.network_byte_ns;
  }

  // Once by each rank for itself, once by the aggregators for all.
  [[nodiscard]] double copy_ns(double aggregators) const {
    double cores = 0;
    for (const auto& [_, load] : loads_) cores += cores_for(load);
    const double bytes_ns = number(picture_.bytes) * costs_.copy_byte_ns;
    const double own_ns =
        bytes_ns + number(picture_.runs + picture_.memory_runs) * costs_.copy_run_ns;
    const double window_ns = bytes_ns + number(picture_.runs) * costs_.copy_run_ns;
    return own_ns / cores + window_ns / aggregators;
  }

  [[nodiscard]] double file_ns(const Windows& windows, double steps, double at_once) const {
    const bool rewrites = !reads_ && windows.has_gaps;
    const double byte_ns =
        (reads_ || rewrites ? costs_.read_byte_ns : 0) + (reads_ ? 0 : costs_.write_byte_ns);
    const double step_ns = costs_.request_ns + (rewrites ? costs_.request_ns + costs_.lock_ns : 0);
    return steps * step_ns + windows.bytes * byte_ns / at_once;
  }

  const Picture& picture_;
  const Costs& costs_;
  const bool reads_;
  const double ranks_;
  std::map<int, Load> loads_;
};

// Numbers of aggregators that are tried.
std::vector<int64_t> candidates(const Crossing& crossing) {
  const Policy& policy = crossing.picture.policy;
  const int64_t most = std::ssize(aggregators_of(crossing.node, policy));
  if (policy.cb_nodes > 0) return {most};
  std::vector<int64_t> tried;
  for (int64_t count = 1; count < most; count *= 2) tried.push_back(count);
  tried.push_back(most);
  return tried;
}

struct Gathering {
  int64_t aggregators = 1;
  double ns = 0;
};

// The cheapest number, if so many bytes of the file are moved.
Gathering cheapest(const Crossing& crossing, const Times& times, int64_t window_bytes) {
  Gathering best;
  for (const int64_t count : candidates(crossing)) {
    const double ns = times.two_phase_ns(count, window_bytes);
    if (best.ns == 0 || ns < best.ns) best = {count, ns};
  }
  return best;
}

std::string together_text(const Gathering& gathering) {
  return time_text(gathering.ns) +
         (gathering.aggregators == 1
              ? " gathered by one rank"
              : " by two-phase with " + std::to_string(gathering.aggregators) + " aggregators");
}

std::string apart_text(double ns) { return time_text(ns) + " apart"; }

Windows windows_of(const Picture& picture, const Schedule& schedule) {
  double window_bytes = 0;
  double bytes = 0;
  for (const Round& round : schedule.rounds) {
    window_bytes += number(round.file.length());
    bytes += number(round.bytes);
  }
  const double scale = bytes > 0 ? number(picture.bytes) / bytes : 1;
  return {window_bytes * scale, number(std::ssize(schedule.rounds)) * scale, bytes < window_bytes};
}

}  // namespace

WayChoice choose_way_across_nodes(const Crossing& crossing) {
  const Picture& picture = crossing.picture;
  if (auto way = way_by_hints(picture)) return *std::move(way);
  const Times times(crossing);
  const double apart_ns = times.apart_ns();
  // At least every byte is moved, those of several ranks once, and no gap.
  const Gathering together = cheapest(crossing, times, std::min(picture.bytes, picture.covered));
  if (apart_ns > together.ns) return {};
  return {Way::kSeparately, describe(picture) + ": " + apart_text(apart_ns) + " against at least " +
                                together_text(together)};
}

int64_t count_aggregators(const Crossing& crossing) {
  return cheapest(crossing, Times(crossing), crossing.picture.covered).aggregators;
}

WayChoice choose_way_across_nodes(const Crossing& crossing, const Schedule& schedule,
                                  int64_t aggregators) {
  const Picture& picture = crossing.picture;
  const Times times(crossing);
  const Windows windows = windows_of(picture, schedule);
  const double apart_ns = times.apart_ns();
  const Gathering together = {aggregators, times.two_phase_ns(aggregators, windows)};
  const bool apart = apart_ns <= together.ns;
  std::string reason = describe(picture) + ": " +
                       (apart ? apart_text(apart_ns) : together_text(together)) + " against " +
                       (apart ? together_text(together) : apart_text(apart_ns));
  if (aggregators > 1) {
    reason += " and " + together_text({1, times.two_phase_ns(1, windows)});
  }
  return {apart ? Way::kSeparately : Way::kTogether, std::move(reason)};
}

}  // namespace tessera::move
