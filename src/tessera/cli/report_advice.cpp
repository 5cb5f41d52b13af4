#include "tessera/cli/report_advice.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/cli/numbers.hpp"

namespace tessera::cli {

namespace {

constexpr double kWorthSeconds = 0.01;  // a rank's time below which nothing is worth changing
constexpr double kWorthShare = 0.2;     // of a file's time, the same
constexpr int64_t kSmallBytes = 4096;
constexpr int64_t kManyCalls = 1000;
constexpr int64_t kManyRuns = 1000;
constexpr int64_t kMuchBytes = int64_t{1} << 20;

using Advice = std::vector<std::string>;

double share(const FileTotals& totals, Phase phase) {
  const double all = totals.total_seconds();
  return all > 0 ? totals.seconds[static_cast<size_t>(phase)] / all : 0;
}

std::string percent_text(double part) { return fmt::format("{:.0f}%", 100 * part); }

// Whether so many seconds of all ranks are worth saving.
bool is_worth(const FileTotals& totals, double seconds) {
  return seconds >= kWorthShare * totals.total_seconds();
}

double independent_seconds(const FileTotals& totals, Direction direction) {
  double seconds = 0;
  for (const EngineUse& use : totals.engines) {
    if (use.direction == direction && use.mode == "independent") seconds += use.seconds;
  }
  return seconds;
}

void advise_on_runs(Advice& advice, const FileTotals& totals, Direction direction,
                    const JobRecord& job) {
  const Transfers& transfers = direction == Direction::kRead ? totals.read : totals.write;
  const int64_t median = median_run_bytes(transfers);
  const char* word = direction_word(direction);
  if (runs_of(transfers) < kManyRuns || median >= kSmallBytes || job.ranks < 2) return;
  if (!is_worth(totals, independent_seconds(totals, direction))) return;
  advice.push_back(fmt::format(
      "Independent {0}s in runs of about {1}: use the collective call (MPI_File_{0}_all), so that "
      "the ranks' small pieces become large ones.",
      word, size_text(median)));
}

void advise_on_calls(Advice& advice, const FileTotals& totals, Direction direction) {
  const Transfers& transfers = direction == Direction::kRead ? totals.read : totals.write;
  if (transfers.calls < kManyCalls || transfers.bytes / transfers.calls >= kSmallBytes) return;
  if (!is_worth(totals, transfers.seconds)) return;
  advice.push_back(fmt::format(
      "{} of {} on average: move more in each call, with a file view or a datatype that describes "
      "all of it.",
      counted(transfers.calls, std::string(direction_word(direction)) + " call"),
      size_text(transfers.bytes / transfers.calls)));
}

// The only rank that moved bytes that way, if there is just one.
void advise_on_one_rank(Advice& advice, const FileRecord& file, Direction direction,
                        const JobRecord& job) {
  const RankRecord* only = nullptr;
  int64_t bytes = 0;
  for (const RankRecord& rank : file.ranks) {
    const auto& transfers = direction == Direction::kRead ? rank.read : rank.write;
    if (transfers.bytes == 0) continue;
    if (only != nullptr) return;
    only = &rank;
    bytes = transfers.bytes;
  }
  if (only == nullptr || bytes < kMuchBytes || job.ranks < 2) return;
  advice.push_back(fmt::format(
      "Only rank {} of {} {} this file ({}): let the ranks move their own parts.", only->rank,
      job.ranks, direction == Direction::kRead ? "reads" : "writes", size_text(bytes)));
}

void advise_on_balance(Advice& advice, const FileTotals& totals) {
  if (totals.imbalance() < 1.5) return;
  advice.push_back(fmt::format(
      "Rank {} took {}, {:.1f} times the average: the others wait for it wherever they meet. Give "
      "the ranks equal parts.",
      totals.slowest_rank, duration_text(totals.slowest_seconds * 1e9), totals.imbalance()));
}

void advise_on_phases(Advice& advice, const FileRecord& file, const FileTotals& totals) {
  const auto say = [&](Phase phase, double from, const char* what) {
    const double part = share(totals, phase);
    if (part >= from) advice.push_back(fmt::format("{} of the time {}", percent_text(part), what));
  };
  say(Phase::kLock, 0.2,
      "goes into waiting for locks: atomic mode and writes with gaps lock. Where ranks do not "
      "overlap, turn atomic mode off; use collective writes.");
  say(Phase::kSync, 0.3,
      "goes into MPI_File_sync: call it only where another program must see the bytes.");
  say(Phase::kView, 0.2, "goes into setting views: set a view once, and use offsets within it.");
  say(Phase::kExchange, 0.6,
      "goes into exchange between ranks: fewer aggregators (cb_nodes) or a larger cb_buffer_size "
      "may help; so may independent calls if each rank's bytes lie together.");
  if (totals.opens > 2 * static_cast<int64_t>(file.ranks.size())) {
    say(Phase::kOpen, 0.2, "goes into opening the file again and again: keep it open.");
  }
}

}  // namespace

Advice advice_for(const FileRecord& file, const FileTotals& totals, const JobRecord& job) {
  Advice advice;
  if (totals.slowest_seconds < std::max(kWorthSeconds, 0.01 * job.seconds)) return advice;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    advise_on_runs(advice, totals, direction, job);
    advise_on_calls(advice, totals, direction);
    advise_on_one_rank(advice, file, direction, job);
  }
  advise_on_balance(advice, totals);
  advise_on_phases(advice, file, totals);
  return advice;
}

}  // namespace tessera::cli
