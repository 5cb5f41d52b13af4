#include "tessera/telemetry/job_log.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>

#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"

namespace tessera::telemetry {

using base::Code;
using base::JsonWriter;
using base::Result;

namespace {

double seconds_of(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

void write_run_sizes(JsonWriter& out, const char* name, const RunSizes& run_sizes) {
  out.key(name).begin_array(JsonWriter::Layout::kOneLine);
  size_t used = kRunClasses;
  while (used > 0 && run_sizes[used - 1] == 0) --used;
  for (size_t i = 0; i < used; ++i) out.value(run_sizes[i]);
  out.end_array();
}

void write_traffic(JsonWriter& out, const char* name, const Traffic& traffic) {
  out.key(name).begin_object(JsonWriter::Layout::kOneLine);
  out.member("calls", traffic.calls).member("bytes", traffic.bytes);
  out.member("seconds", seconds_of(traffic.ns));
  const auto& [independent, collective] = traffic.run_sizes;
  RunSizes all = independent;
  for (size_t i = 0; i < kRunClasses; ++i) all[i] += collective[i];
  write_run_sizes(out, "run_sizes", all);
  write_run_sizes(out, "independent_run_sizes", independent);
  out.end_object();
}

void write_seconds(JsonWriter& out, const FileCounts& counts) {
  const auto stage = [&](Stage which) {
    return seconds_of(counts.stage_ns[static_cast<size_t>(which)]);
  };
  out.key("seconds").begin_object(JsonWriter::Layout::kOneLine);
  out.member("open", stage(Stage::kOpen)).member("view", stage(Stage::kView));
  out.member("exchange", seconds_of(counts.exchange_ns)).member("io", seconds_of(counts.io_ns));
  out.member("lock", seconds_of(counts.lock_ns)).member("copy", seconds_of(counts.copy_ns));
  out.member("sync", stage(Stage::kSync)).member("close", stage(Stage::kClose));
  out.end_object();
}

void write_uses(JsonWriter& out, const FileCounts& counts) {
  out.key("engines").begin_array();
  for (size_t direction = 0; direction < 2; ++direction) {
    for (size_t mode = 0; mode < 2; ++mode) {
      for (size_t engine = 0; engine < kEngines; ++engine) {
        const Use& use = counts.uses[direction][mode][engine];
        if (use.calls == 0) continue;
        out.begin_object(JsonWriter::Layout::kOneLine);
        out.member("direction", move::direction_name(static_cast<move::Direction>(direction)));
        out.member("mode", mode == 1 ? "collective" : "independent");
        out.member("engine", move::engine_name(static_cast<move::Engine>(engine)));
        out.member("reason", use.reason.data()).member("calls", use.calls);
        out.member("bytes", use.bytes).member("seconds", seconds_of(use.ns)).end_object();
      }
    }
  }
  out.end_array();
}

std::string utc(int64_t when) {
  const std::time_t time = when;
  std::tm parts = {};
  gmtime_r(&time, &parts);
  char text[32] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::vector<std::string> rank_files(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code no_file;
    if (!at->is_regular_file(no_file)) continue;
    if (at->path().filename().string().starts_with("rank-")) paths.push_back(at->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::string rank_text(int64_t rank, const std::vector<const FileCounts*>& files) {
  JsonWriter out(JsonWriter::Style::kCompact);
  out.begin_array();
  for (const FileCounts* counts : files) {
    out.begin_object().member("path", counts->path.data()).key("record");
    out.begin_object().member("rank", rank).member("opens", counts->opens);
    write_traffic(out, "read", counts->read);
    write_traffic(out, "write", counts->write);
    write_seconds(out, *counts);
    write_uses(out, *counts);
    out.end_object().end_object();
  }
  return out.end_array().finish();
}

std::string log_text(const JobFacts& job, const JobEnd& end,
                     const std::vector<std::string>& rank_texts) {
  std::vector<base::Json> parsed;
  for (const std::string& text : rank_texts) {
    if (auto json = base::Json::parse(text)) parsed.push_back(*std::move(json));
  }
  std::map<std::string, std::vector<const base::Json*>> files;
  for (const base::Json& rank : parsed) {
    for (const base::Json& file : *rank.array()) {
      files[*file.find("path")->string()].push_back(file.find("record"));
    }
  }
  JsonWriter out;
  out.begin_object().member("format", "tessera-report").member("version", 1);
  out.key("job").begin_object().member("program", job.program);
  out.member("mpi", job.mpi).member("ranks", job.ranks);
  out.member("started", utc(job.started)).member("seconds", end.seconds);
  if (end.unfinished) out.member("unfinished", true);
  if (!end.missing.empty()) out.member("missing", end.missing);
  out.member("library", job.library).end_object().key("files").begin_array();
  for (const auto& [path, records] : files) {
    out.begin_object().member("path", path).key("ranks").begin_array();
    for (const base::Json* record : records) out.value(*record);
    out.end_array().end_object();
  }
  return out.end_array().end_object().finish();
}

Result<std::string> unfinished_log(const std::string& folder, const std::string& version) {
  JobFacts job;
  int64_t elapsed_ns = 0;
  int64_t files_lost = 0;
  std::vector<std::string> texts;
  std::optional<base::Error> unread;  // the first one
  const std::vector<std::string> paths = rank_files(folder);
  for (const std::string& path : paths) {
    const auto left = read_counts(path, version);
    if (!left) {
      if (!unread) unread = left.error();
      continue;
    }
    job = left->job;
    elapsed_ns = std::max(elapsed_ns, left->elapsed_ns);
    files_lost += left->files_lost;
    std::vector<const FileCounts*> files;
    for (const FileCounts& counts : left->files) files.push_back(&counts);
    texts.push_back(rank_text(left->rank, files));
  }
  if (texts.empty() && unread) return base::Failure{*unread};
  if (texts.empty()) {
    return base::fail(Code::kNotFound, folder + " is a folder without counts of ranks");
  }
  JobEnd end = {.seconds = seconds_of(elapsed_ns), .unfinished = true, .missing = ""};
  if (unread) {
    end.missing = "counts of " + std::to_string(texts.size()) + " of " +
                  std::to_string(paths.size()) + " ranks: " + unread->message();
  }
  if (files_lost > 0) {
    end.missing += (end.missing.empty() ? "" : "; ") + std::to_string(files_lost) +
                   " files of ranks were counted in memory only";
  }
  return log_text(job, end, texts);
}

}  // namespace tessera::telemetry
