#include "tessera/cli/report_text.hpp"

#include <fmt/core.h>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/report_advice.hpp"

namespace tessera::cli {

namespace {

std::string transfers_line(const char* word, const Transfers& transfers) {
  if (transfers.calls == 0) return "";
  const std::string runs = runs_text(transfers);
  return fmt::format("  {:<7} {} in {}{}\n", word, size_text(transfers.bytes),
                     counted(transfers.calls, "call"),
                     runs.empty() ? "" : fmt::format(", runs of about {}", runs));
}

std::string phases_line(const FileTotals& totals) {
  const double all = totals.total_seconds();
  std::string text;
  for (size_t i = 0; i < kPhases.size(); ++i) {
    if (totals.seconds[i] * 100 < all || all == 0) continue;
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", kPhases[i],
                        100 * totals.seconds[i] / all);
  }
  return text.empty() ? "" : fmt::format("  time    {}\n", text);
}

std::string file_text(const FileRecord& file, const JobRecord& job, const JobWeight& weight) {
  const FileTotals totals = totals_of(file);
  std::string text = fmt::format("\n{}\n", file.path);
  text += transfers_line("read", totals.read) + transfers_line("wrote", totals.write);
  text += phases_line(totals);
  text += fmt::format("  ranks   {}\n", balance_text(file, totals));
  if (!totals.engines.empty()) text += engine_table(totals).text();
  for (const std::string& line : advice_lines(advice_for(file, totals, job, weight))) {
    text += fmt::format("  advice  {}\n", line);
  }
  return text;
}

}  // namespace

std::string seconds_text(double seconds) { return duration_text(seconds * 1e9); }

std::string job_line(const JobRecord& job) {
  return fmt::format("{} on {}{}, {}{}", job.program.empty() ? "a program" : job.program,
                     counted(job.ranks, "rank"),
                     job.nodes == 0 ? "" : ", " + counted(job.nodes, "node"),
                     seconds_text(job.seconds), job.mpi.empty() ? "" : ", " + job.mpi);
}

std::string unfinished_text(const JobRecord& job) {
  if (!job.unfinished) return "";
  return "unfinished: the job did not come to MPI_Finalize, or not yet; this is what its ranks had "
         "counted" +
         (job.missing.empty() ? "" : "; " + job.missing);
}

Table job_table(const std::vector<ReportLog>& logs) {
  Table table({{"job", Table::Align::kRight},
               {"program", Table::Align::kLeft},
               {"started", Table::Align::kLeft},
               {"ranks", Table::Align::kRight},
               {"time", Table::Align::kRight},
               {"files", Table::Align::kRight},
               {"read", Table::Align::kRight},
               {"written", Table::Align::kRight},
               {"slowest rank in files", Table::Align::kRight},
               {"", Table::Align::kLeft}});
  for (size_t i = 0; i < logs.size(); ++i) {
    const ReportLog& log = logs[i];
    const JobTotals totals = totals_of(log);
    table.add({std::to_string(i + 1), log.job.program, log.job.started, with_commas(log.job.ranks),
               seconds_text(log.job.seconds), with_commas(static_cast<int64_t>(log.files.size())),
               size_text(totals.read_bytes), size_text(totals.write_bytes),
               seconds_text(totals.slowest_seconds), log.job.unfinished ? "unfinished" : ""});
  }
  return table;
}

std::string runs_text(const Transfers& transfers) {
  const int64_t median = median_run_bytes(transfers);
  const int64_t middle = middle_byte_run_bytes(transfers);
  if (median == 0) return "";
  constexpr int64_t kAlike = 8;  // times as large says the same
  if (middle / median < kAlike) return size_text(median);
  return fmt::format("{} (half of the bytes in runs of about {})", size_text(median),
                     size_text(middle));
}

std::string balance_text(const FileRecord& file, const FileTotals& totals) {
  const auto count = static_cast<int64_t>(file.ranks.size());
  if (totals.slowest_seconds == 0) return counted(count, "rank") + ", no time to speak of";
  return fmt::format("{}; the slowest, rank {}, took {}, {:.2f} times the average",
                     counted(count, "rank"), totals.slowest_rank,
                     seconds_text(totals.slowest_seconds), totals.imbalance());
}

std::string run_class_text(size_t index) {
  const int64_t begin = int64_t{1} << index;
  return index == 0 ? "1 B"
                    : fmt::format("{} to {}", size_text(begin), size_text(2 * (begin - 1) + 1));
}

Table engine_table(const FileTotals& totals) {
  Table table({{"operation", Table::Align::kLeft},
               {"engine", Table::Align::kLeft},
               {"calls", Table::Align::kRight},
               {"bytes", Table::Align::kRight},
               {"time of all ranks", Table::Align::kRight},
               {"why", Table::Align::kLeft}});
  for (const EngineUse& use : totals.engines) {
    table.add({use.mode + " " + direction_word(use.direction), use.engine, with_commas(use.calls),
               size_text(use.bytes), seconds_text(use.seconds), use.reason});
  }
  return table;
}

namespace {

std::string one_text(const ReportLog& log) {
  const JobTotals totals = totals_of(log);
  std::string text = job_line(log.job) + "\n";
  if (!log.job.started.empty()) text += fmt::format("started {}\n", log.job.started);
  text += fmt::format("read {}, wrote {}, in {}", size_text(totals.read_bytes),
                      size_text(totals.write_bytes),
                      counted(static_cast<int64_t>(log.files.size()), "file"));
  text += totals.slowest_seconds == 0
              ? "\n"
              : fmt::format("; rank {} spent most time on it, {}\n", totals.slowest_rank,
                            seconds_text(totals.slowest_seconds));
  text += unfinished_text(log.job).empty() ? "" : unfinished_text(log.job) + "\n";
  const JobWeight weight = weight_of(log);
  text += advice_line(weight).empty() ? "" : advice_line(weight) + "\n";
  for (const FileRecord& file : log.files) text += file_text(file, log.job, weight);
  return text;
}

}  // namespace

std::string report_text(const std::vector<ReportLog>& logs) {
  if (logs.size() == 1) return one_text(logs.front());
  std::string text = counted(static_cast<int64_t>(logs.size()), "job") + "\n";
  text += job_table(logs).text();
  for (const ReportLog& log : logs) text += "\n" + one_text(log);
  return text;
}

}  // namespace tessera::cli
