#include "tessera/cli/report_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/report_advice.hpp"
#include "tessera/cli/report_pictures.hpp"
#include "tessera/cli/report_text.hpp"

namespace tessera::cli {

namespace {

constexpr size_t kPicturedMax = 40;
constexpr size_t kListedMax = 1000;

struct Entry {
  const FileRecord* file;
  FileTotals totals;
};

// The files, those in which a rank spent most time first.
std::vector<Entry> entries_of(const ReportLog& log) {
  std::vector<Entry> entries;
  for (const FileRecord& file : log.files) entries.push_back({&file, totals_of(file)});
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.totals.slowest_seconds > b.totals.slowest_seconds;
  });
  return entries;
}

void add_job(Page& page, const ReportLog& log) {
  const JobTotals totals = totals_of(log);
  const JobRecord& job = log.job;
  const bool whole = job.seconds > 0 && totals.slowest_seconds <= job.seconds;
  const std::string share =
      whole ? fmt::format(": {:.1f}% of the job", 100 * totals.slowest_seconds / job.seconds) : "";
  const std::string nodes = job.nodes == 0 ? "" : fmt::format(" on {}", counted(job.nodes, "node"));
  page.facts(
      {{with_commas(job.ranks), "ranks" + nodes},
       {seconds_text(job.seconds), "from MPI_Init to MPI_Finalize"},
       {size_text(totals.read_bytes), "read"},
       {size_text(totals.write_bytes), "written"},
       {seconds_text(totals.slowest_seconds),
        fmt::format("in files, on rank {}, which spent most{}", totals.slowest_rank, share)}});
}

void add_files(Page& page, const std::vector<Entry>& entries) {
  page.heading("Files");
  Table table({{"file", Table::Align::kLeft},
               {"read", Table::Align::kRight},
               {"written", Table::Align::kRight},
               {"ranks", Table::Align::kRight},
               {"slowest rank", Table::Align::kRight},
               {"its time", Table::Align::kRight},
               {"of the average", Table::Align::kRight}});
  for (const Entry& entry : entries) {
    if (table.rows().size() == kListedMax) break;
    table.add({entry.file->path, size_text(entry.totals.read.bytes),
               size_text(entry.totals.write.bytes), std::to_string(entry.file->ranks.size()),
               std::to_string(entry.totals.slowest_rank),
               seconds_text(entry.totals.slowest_seconds),
               fmt::format("{:.2f}x", entry.totals.imbalance())});
  }
  page.table(table);
  if (entries.size() > kListedMax) {
    page.paragraph(fmt::format("... and {} more.",
                               with_commas(static_cast<int64_t>(entries.size() - kListedMax))));
  }
}

void add_file(Page& page, const Entry& entry, const JobRecord& job, const JobWeight& weight) {
  const FileTotals& totals = entry.totals;
  page.heading(entry.file->path.empty() ? "(no name)" : entry.file->path);
  page.paragraph(fmt::format("{}.", balance_text(*entry.file, totals)));
  const Advice advice = advice_for(*entry.file, totals, job, weight);
  for (const std::string& line : advice_lines(advice)) page.paragraph(line);
  if (totals.read.bytes > 0 || totals.write.bytes > 0) {
    page.figure(bytes_picture(*entry.file), "Who read and wrote how much.");
  }
  if (runs_of(totals.read) > 0 || runs_of(totals.write) > 0) {
    page.figure(runs_picture(totals),
                "Runs: pieces that lie together in the file, by size; each class begins at the "
                "size below it and ends before the next. Heights are logarithms of the counts; "
                "point at a column to see its count.");
  }
  if (totals.slowest_seconds > 0) {
    page.figure(time_picture(*entry.file), "Where the time of each rank went.");
  }
  if (!totals.engines.empty()) {
    page.paragraph("How the bytes moved, and why that way:");
    page.table(engine_table(totals));
  }
}

std::string about(const JobRecord& job) {
  const std::string started = job.started.empty() ? "" : fmt::format(", {}", job.started);
  const std::string library =
      job.library.empty() ? "" : fmt::format("; written by tessera {}", job.library);
  return job_line(job) + started + library + ".";
}

void add_log(Page& page, const ReportLog& log) {
  if (log.job.unfinished) page.paragraph(unfinished_text(log.job) + ".");
  const auto entries = entries_of(log);
  add_job(page, log);
  if (entries.empty()) return page.paragraph("The job opened no file through Tessera.");
  const JobWeight weight = weight_of(log);
  if (!weight.too_little.empty()) page.paragraph(advice_line(weight));
  if (entries.size() > 1) add_files(page, entries);
  for (size_t i = 0; i < std::min(entries.size(), kPicturedMax); ++i) {
    add_file(page, entries[i], log.job, weight);
  }
}

}  // namespace

std::string report_page(const std::vector<ReportLog>& logs) {
  if (logs.size() == 1) {
    Page page("Where the I/O of a job went", about(logs.front().job));
    add_log(page, logs.front());
    return page.html();
  }
  Page page("Where the I/O of jobs went",
            fmt::format("{} jobs, in the order in which they were given.", logs.size()));
  page.table(job_table(logs));
  for (size_t i = 0; i < logs.size(); ++i) {
    page.heading(fmt::format("Job {}", i + 1));
    page.paragraph(about(logs[i].job));
    add_log(page, logs[i]);
  }
  return page.html();
}

}  // namespace tessera::cli
