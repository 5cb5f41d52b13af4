#include "tessera/base/json_writer.hpp"
#include "tessera/cli/report_advice.hpp"
#include "tessera/cli/report_text.hpp"

namespace tessera::cli {

namespace {

using base::JsonWriter;

void write_transfers(JsonWriter& writer, const char* key, const Transfers& transfers) {
  writer.key(key).begin_object(JsonWriter::Layout::kOneLine);
  writer.member("calls", transfers.calls).member("bytes", transfers.bytes);
  writer.member("seconds", transfers.seconds).member("runs", runs_of(transfers));
  writer.member("median_run_bytes", median_run_bytes(transfers));
  writer.member("middle_byte_run_bytes", middle_byte_run_bytes(transfers)).end_object();
}

void write_engines(JsonWriter& writer, const FileTotals& totals) {
  writer.key("engines").begin_array();
  for (const EngineUse& use : totals.engines) {
    writer.begin_object(JsonWriter::Layout::kOneLine);
    writer.member("direction", direction_word(use.direction)).member("mode", use.mode);
    writer.member("engine", use.engine).member("reason", use.reason).member("calls", use.calls);
    writer.member("bytes", use.bytes).member("seconds", use.seconds).end_object();
  }
  writer.end_array();
}

void write_sentences(JsonWriter& writer, const char* key,
                     const std::vector<std::string>& sentences) {
  writer.key(key).begin_array();
  for (const std::string& sentence : sentences) writer.value(sentence);
  writer.end_array();
}

void write_file(JsonWriter& writer, const FileRecord& file, const JobRecord& job,
                const JobWeight& weight) {
  const FileTotals totals = totals_of(file);
  writer.begin_object().member("path", file.path);
  writer.member("ranks", file.ranks.size()).member("opens", totals.opens);
  write_transfers(writer, "read", totals.read);
  write_transfers(writer, "write", totals.write);
  writer.key("seconds").begin_object(JsonWriter::Layout::kOneLine);
  for (size_t i = 0; i < kPhases.size(); ++i) writer.member(kPhases[i], totals.seconds[i]);
  writer.end_object();
  writer.member("slowest_rank", totals.slowest_rank);
  writer.member("slowest_seconds", totals.slowest_seconds);
  writer.member("imbalance", totals.imbalance());
  write_engines(writer, totals);
  const Advice advice = advice_for(file, totals, job, weight);
  const std::vector<std::string> none;
  write_sentences(writer, "advice", advice.matters ? advice.sentences : none);
  write_sentences(writer, "minor", advice.matters ? none : advice.sentences);
  if (!advice.too_little.empty()) writer.member("no_advice", advice.too_little);
  writer.end_object();
}

void write_log(JsonWriter& writer, const ReportLog& log) {
  const JobTotals totals = totals_of(log);
  const JobWeight weight = weight_of(log);
  const JobRecord& job = log.job;
  writer.begin_object().key("job").begin_object();
  writer.member("program", job.program).member("mpi", job.mpi).member("ranks", job.ranks);
  writer.member("nodes", job.nodes).member("started", job.started);
  writer.member("seconds", job.seconds).member("unfinished", job.unfinished);
  if (!job.missing.empty()) writer.member("missing", job.missing);
  writer.member("library", job.library);
  writer.member("read_bytes", totals.read_bytes).member("write_bytes", totals.write_bytes);
  writer.member("slowest_rank", totals.slowest_rank);
  writer.member("slowest_seconds", totals.slowest_seconds);
  if (!weight.too_little.empty()) writer.member("no_advice", weight.too_little);
  writer.end_object();
  writer.key("files").begin_array();
  for (const FileRecord& file : log.files) write_file(writer, file, job, weight);
  writer.end_array().end_object();
}

}  // namespace

std::string report_json(const std::vector<ReportLog>& logs,
                        const std::vector<base::Error>& errors) {
  JsonWriter writer;
  if (logs.size() == 1 && errors.empty()) {
    write_log(writer, logs.front());
    return writer.finish();
  }
  writer.begin_object().key("jobs").begin_array();
  for (const ReportLog& log : logs) write_log(writer, log);
  writer.end_array();
  if (!errors.empty()) {
    writer.key("errors").begin_array();
    for (const base::Error& error : errors) {
      writer.begin_object(JsonWriter::Layout::kOneLine);
      writer.member("code", code_name(error.code)).member("message", error.message()).end_object();
    }
    writer.end_array();
  }
  writer.end_object();
  return writer.finish();
}

}  // namespace tessera::cli
