#include "tessera/cli/report_totals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "tessera/base/checked.hpp"

namespace tessera::cli {

namespace {

void add_run_sizes(std::vector<int64_t>& sum, const std::vector<int64_t>& more) {
  sum.resize(std::max(sum.size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i) sum[i] = capped_sum(sum[i], more[i]);
}

void add(Transfers& sum, const Transfers& more) {
  sum.calls = capped_sum(sum.calls, more.calls);
  sum.bytes = capped_sum(sum.bytes, more.bytes);
  sum.seconds += more.seconds;
  add_run_sizes(sum.run_sizes, more.run_sizes);
  if (!more.independent_run_sizes) return;
  if (!sum.independent_run_sizes) sum.independent_run_sizes.emplace();
  add_run_sizes(*sum.independent_run_sizes, *more.independent_run_sizes);
}

std::vector<EngineUse> merged_engines(const FileRecord& file) {
  std::map<std::tuple<Direction, std::string, std::string, std::string>, EngineUse> kinds;
  for (const RankRecord& rank : file.ranks) {
    for (const EngineUse& use : rank.engines) {
      const auto [kind, fresh] =
          kinds.try_emplace({use.direction, use.mode, use.engine, use.reason}, use);
      if (fresh) continue;
      EngineUse& sum = kind->second;
      sum.calls = capped_sum(sum.calls, use.calls);
      sum.bytes = capped_sum(sum.bytes, use.bytes);
      sum.seconds += use.seconds;
    }
  }
  std::vector<EngineUse> engines;
  for (auto& [kind, use] : kinds) engines.push_back(std::move(use));
  std::stable_sort(engines.begin(), engines.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return engines;
}

}  // namespace

double FileTotals::imbalance() const {
  return mean_seconds > 0 ? slowest_seconds / mean_seconds : 1;
}

double FileTotals::total_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

double seconds_of(const RankRecord& rank) {
  return std::accumulate(rank.seconds.begin(), rank.seconds.end(), 0.0);
}

FileTotals totals_of(const FileRecord& file) {
  FileTotals totals;
  for (const RankRecord& rank : file.ranks) {
    add(totals.read, rank.read);
    add(totals.write, rank.write);
    for (size_t i = 0; i < kPhases.size(); ++i) totals.seconds[i] += rank.seconds[i];
    totals.opens = capped_sum(totals.opens, rank.opens);
    const double seconds = seconds_of(rank);
    if (seconds > totals.slowest_seconds) {
      totals.slowest_seconds = seconds;
      totals.slowest_rank = rank.rank;
    }
  }
  if (!file.ranks.empty()) {
    totals.mean_seconds = totals.total_seconds() / static_cast<double>(file.ranks.size());
  }
  totals.engines = merged_engines(file);
  return totals;
}

JobTotals totals_of(const ReportLog& log) {
  JobTotals totals;
  std::map<int64_t, double> seconds;
  for (const FileRecord& file : log.files) {
    for (const RankRecord& rank : file.ranks) {
      totals.read_bytes = capped_sum(totals.read_bytes, rank.read.bytes);
      totals.write_bytes = capped_sum(totals.write_bytes, rank.write.bytes);
      seconds[rank.rank] += seconds_of(rank);
    }
  }
  for (const auto& [rank, sum] : seconds) {
    if (sum <= totals.slowest_seconds) continue;
    totals.slowest_seconds = sum;
    totals.slowest_rank = rank;
  }
  return totals;
}

int64_t runs_of(const Transfers& transfers) {
  return std::accumulate(transfers.run_sizes.begin(), transfers.run_sizes.end(), int64_t{0},
                         capped_sum);
}

int64_t median_run_bytes(const Transfers& transfers) {
  const int64_t runs = runs_of(transfers);
  int64_t passed = 0;
  for (size_t i = 0; i < transfers.run_sizes.size(); ++i) {
    passed = capped_sum(passed, transfers.run_sizes[i]);
    if (passed > 0 && passed >= runs - runs / 2) return int64_t{1} << i;
  }
  return 0;
}

int64_t middle_byte_run_bytes(const Transfers& transfers) {
  // In doubles: the sums of damaged logs pass 64 bits.
  const auto bytes_in = [&](size_t i) {
    return std::ldexp(static_cast<double>(transfers.run_sizes[i]), static_cast<int>(i));
  };
  double all = 0;
  for (size_t i = 0; i < transfers.run_sizes.size(); ++i) all += bytes_in(i);
  double passed = 0;
  for (size_t i = 0; i < transfers.run_sizes.size(); ++i) {
    passed += bytes_in(i);
    if (passed > 0 && 2 * passed >= all) return int64_t{1} << i;
  }
  return 0;
}

int64_t capped_sum(int64_t a, int64_t b) {
  return base::checked_add(a, b).value_or(std::numeric_limits<int64_t>::max());
}

const char* direction_word(Direction direction) {
  return direction == Direction::kRead ? "read" : "write";
}

}  // namespace tessera::cli
