#include "tessera/cli/report_advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/report_text.hpp"

namespace tessera::cli {

namespace {

constexpr double kWorthSeconds = 0.01;  // a rank's time below which nothing is worth changing
constexpr double kWorthOfJob = 0.01;    // of the job's time, the same
constexpr double kWorthShare = 0.2;     // of a file's time, the same
constexpr int64_t kSmallBytes = 4096;
constexpr int64_t kManyCalls = 1000;
constexpr int64_t kManyRuns = 1000;
constexpr int64_t kMuchBytes = int64_t{1} << 20;
constexpr const char* kIndependent = "independent";
constexpr const char* kCollective = "collective";

using Sentences = std::vector<std::string>;

double share(const FileTotals& totals, Phase phase) {
  const double all = totals.total_seconds();
  return all > 0 ? totals.seconds[static_cast<size_t>(phase)] / all : 0;
}

std::string percent_text(double part) { return fmt::format("{:.0f}%", 100 * part); }

// Whether so many seconds of all ranks are worth saving.
bool is_worth(const FileTotals& totals, double seconds) {
  return seconds >= kWorthShare * totals.total_seconds();
}

// Operations of one direction and one mode, of all engines.
EngineUse use_of(const FileTotals& totals, Direction direction, const char* mode) {
  EngineUse sum;
  for (const EngineUse& use : totals.engines) {
    if (use.direction != direction || use.mode != mode) continue;
    sum.calls = capped_sum(sum.calls, use.calls);
    sum.bytes = capped_sum(sum.bytes, use.bytes);
    sum.seconds += use.seconds;
  }
  return sum;
}

// With the runs of independent operations only. Older logs have one list for all operations: it is
// theirs if there are no others, and tells enough if their calls are so small that their runs are.
Transfers independent_runs(const FileTotals& totals, Direction direction) {
  const Transfers& all = direction == Direction::kRead ? totals.read : totals.write;
  Transfers runs;
  if (all.independent_run_sizes) {
    runs.run_sizes = *all.independent_run_sizes;
    return runs;
  }
  const EngineUse independent = use_of(totals, direction, kIndependent);
  const bool alone = use_of(totals, direction, kCollective).calls == 0;
  const bool small = independent.calls > 0 && independent.bytes / independent.calls < kSmallBytes;
  if (alone || small) runs.run_sizes = all.run_sizes;
  return runs;
}

void advise_on_runs(Sentences& advice, const FileTotals& totals, Direction direction,
                    const JobRecord& job) {
  const Transfers runs = independent_runs(totals, direction);
  const int64_t median = median_run_bytes(runs);
  if (runs_of(runs) < kManyRuns || median >= kSmallBytes || job.ranks < 2) return;
  if (!is_worth(totals, use_of(totals, direction, kIndependent).seconds)) return;
  advice.push_back(fmt::format(
      "Independent {0}s in runs of about {1}: use the collective call (MPI_File_{0}_all), so that "
      "the ranks' small pieces become large ones.",
      direction_word(direction), runs_text(runs)));
}

void advise_on_calls(Sentences& advice, const FileTotals& totals, Direction direction,
                     const char* mode) {
  const EngineUse use = use_of(totals, direction, mode);
  if (use.calls < kManyCalls || use.bytes / use.calls >= kSmallBytes) return;
  if (!is_worth(totals, use.seconds)) return;
  advice.push_back(fmt::format(
      "{} of {} on average: move more in each call, with a file view or a datatype that describes "
      "all of it.",
      counted(use.calls, fmt::format("{} {} call", mode, direction_word(direction))),
      size_text(use.bytes / use.calls)));
}

// The only rank that moved bytes that way, if there is just one.
void advise_on_one_rank(Sentences& advice, const FileRecord& file, Direction direction,
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

void advise_on_balance(Sentences& advice, const FileTotals& totals) {
  if (totals.imbalance() < 1.5) return;
  advice.push_back(fmt::format(
      "Rank {} took {}, {:.1f} times the average: the others wait for it wherever they meet. Give "
      "the ranks equal parts.",
      totals.slowest_rank, duration_text(totals.slowest_seconds * 1e9), totals.imbalance()));
}

void advise_on_phases(Sentences& advice, const FileRecord& file, const FileTotals& totals) {
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

double worth_seconds(const JobRecord& job) {
  return std::max(kWorthOfJob * job.seconds, kWorthSeconds);
}

// What is said of so many seconds below worth_seconds(). Cut short of the thresholds, so that
// 0.996% is not rounded to them.
std::string too_little_text(const char* what, double seconds, const JobRecord& job) {
  if (seconds < kWorthOfJob * job.seconds) {
    const double part = std::min(seconds / job.seconds, 0.99 * kWorthOfJob);
    return fmt::format("{} took {:.2f}% of the job (threshold {:.0f}%)", what, 100 * part,
                       100 * kWorthOfJob);
  }
  return fmt::format("{} took {} (threshold {})", what,
                     duration_text(std::min(seconds, 0.999 * kWorthSeconds) * 1e9),
                     duration_text(kWorthSeconds * 1e9));
}

// The time of the slowest rank in those files that by themselves took less than `below`.
double seconds_in_small_files(const ReportLog& log, double below) {
  std::map<int64_t, double> seconds;
  double most = 0;
  for (const FileRecord& file : log.files) {
    const bool small = std::all_of(file.ranks.begin(), file.ranks.end(),
                                   [&](const auto& rank) { return seconds_of(rank) < below; });
    if (!small) continue;
    for (const RankRecord& rank : file.ranks) {
      most = std::max(most, seconds[rank.rank] += seconds_of(rank));
    }
  }
  return most;
}

}  // namespace

JobWeight weight_of(const ReportLog& log) {
  JobWeight weight;
  if (log.files.empty()) return weight;
  const double worth = worth_seconds(log.job);
  const double seconds = totals_of(log).slowest_seconds;
  if (seconds < worth) weight.too_little = too_little_text("I/O", seconds, log.job);
  weight.file_seconds_min = seconds_in_small_files(log, worth) < worth ? worth : 0;
  return weight;
}

Advice advice_for(const FileRecord& file, const FileTotals& totals, const JobRecord& job,
                  const JobWeight& weight) {
  Advice advice;
  Sentences& sentences = advice.sentences;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    advise_on_runs(sentences, totals, direction, job);
    for (const char* mode : {kIndependent, kCollective}) {
      advise_on_calls(sentences, totals, direction, mode);
    }
    advise_on_one_rank(sentences, file, direction, job);
  }
  advise_on_balance(sentences, totals);
  advise_on_phases(sentences, file, totals);
  advice.matters = weight.too_little.empty() && totals.slowest_seconds >= weight.file_seconds_min;
  if (!advice.matters && weight.too_little.empty()) {
    advice.too_little = too_little_text("this file", totals.slowest_seconds, job);
  }
  return advice;
}

std::string advice_line(const JobWeight& weight) {
  return weight.too_little.empty() ? "" : fmt::format("No advice: {}.", weight.too_little);
}

std::vector<std::string> advice_lines(const Advice& advice) {
  if (advice.matters) {
    return advice.sentences.empty() ? Sentences{"No advice: nothing stands out."}
                                    : advice.sentences;
  }
  Sentences lines;
  if (!advice.too_little.empty()) lines.push_back(fmt::format("No advice: {}.", advice.too_little));
  for (const std::string& sentence : advice.sentences) {
    lines.push_back("Would matter if it took longer: " + sentence);
  }
  return lines;
}

}  // namespace tessera::cli
