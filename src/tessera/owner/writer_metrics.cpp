#include <algorithm>

#include "tessera/owner/writers.hpp"

namespace tessera::owner {

WriterMetrics measure(const Writers& writers) {
  WriterMetrics metrics;
  metrics.processes = writers.processes();
  metrics.items = writers.items();
  metrics.intervals = std::ssize(writers.intervals());
  metrics.intervals_of.resize(static_cast<size_t>(writers.processes()));
  metrics.items_of.resize(static_cast<size_t>(writers.processes()));
  for (const WriterInterval& interval : writers.intervals()) {
    ++metrics.intervals_of[static_cast<size_t>(interval.writer)];
    metrics.items_of[static_cast<size_t>(interval.writer)] += interval.end - interval.begin;
  }
  if (metrics.items == 0) return metrics;
  const auto items = static_cast<double>(metrics.items);
  metrics.average_length = items / static_cast<double>(metrics.intervals);
  const auto [fewest, most] = std::minmax_element(metrics.items_of.begin(), metrics.items_of.end());
  metrics.imbalance = static_cast<double>(*most - *fewest) / (items / metrics.processes);
  return metrics;
}

double replication_percent(const Sharing& sharing) {
  if (sharing.items() == 0) return 0;
  return 100.0 * static_cast<double>(sharing.shared_items()) / static_cast<double>(sharing.items());
}

}  // namespace tessera::owner
