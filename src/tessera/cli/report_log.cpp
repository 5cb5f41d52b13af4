#include "tessera/cli/report_log.hpp"

#include <cmath>
#include <optional>

namespace tessera::cli {

using base::Json;
using base::Result;

namespace {

constexpr std::string_view kFormat = "tessera-report";
constexpr int64_t kVersion = 1;
constexpr int64_t kCountMax = int64_t{1} << 62;
constexpr int64_t kRanksMax = int64_t{1} << 31;
constexpr double kSecondsMax = 1e12;

// Takes values out of the text and remembers the first that is wrong; after that, what it answers
// does not matter.
class LogReader {
 public:
  // A value and the way to it from the root.
  struct At {
    const Json* json = nullptr;  // null where a key is missing
    std::string path;
  };

  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

  void wrong(const At& at, const std::string& cause) {
    if (error_) return;
    const std::string name = at.path.empty() ? "the log" : at.path;
    const std::string place = at.json == nullptr ? "" : " (" + to_string(at.json->place()) + ")";
    error_ = {base::Code::kInvalid, 0, name + place + ": " + cause};
  }

  At member(const At& object, const char* key) {
    const std::string path = object.path.empty() ? key : object.path + "." + key;
    return {object.json == nullptr ? nullptr : object.json->find(key), path};
  }

  // Requires that a missing object is one without members.
  At object(const At& parent, const char* key) {
    At at = member(parent, key);
    if (at.json != nullptr && at.json->object() == nullptr) wrong(at, must_be("an object", at));
    return at;
  }

  std::string text(const At& parent, const char* key) {
    const At at = member(parent, key);
    if (at.json == nullptr) return "";
    if (const std::string* text = at.json->string()) return *text;
    wrong(at, must_be("a string", at));
    return "";
  }

  bool flag(const At& parent, const char* key) {
    const At at = member(parent, key);
    if (at.json == nullptr) return false;
    if (const bool* flag = at.json->boolean()) return *flag;
    wrong(at, must_be("true or false", at));
    return false;
  }

  int64_t count(const At& at, int64_t max) {
    if (at.json == nullptr) return 0;
    const int64_t* number = at.json->integer();
    if (number != nullptr && *number >= 0 && *number <= max) return *number;
    wrong(at, must_be("an integer from 0 to " + std::to_string(max), at));
    return 0;
  }
  int64_t count(const At& parent, const char* key, int64_t max = kCountMax) {
    return count(member(parent, key), max);
  }

  double seconds(const At& parent, const char* key) {
    const At at = member(parent, key);
    if (at.json == nullptr) return 0;
    const int64_t* whole = at.json->integer();
    const double* real = at.json->real();
    const double value = whole != nullptr  ? static_cast<double>(*whole)
                         : real != nullptr ? *real
                                           : -1;
    if (value >= 0 && value <= kSecondsMax) return value;
    wrong(at, must_be("a number of seconds", at));
    return 0;
  }

  // Calls take(item) for every item of an array; a missing array is empty.
  template <typename Take>
  void each(const At& parent, const char* key, const Take& take) {
    const At at = member(parent, key);
    if (at.json == nullptr) return;
    const Json::Array* items = at.json->array();
    if (items == nullptr) return wrong(at, must_be("a list", at));
    for (size_t i = 0; i < items->size() && !error_; ++i) {
      take(At{&(*items)[i], at.path + "[" + std::to_string(i) + "]"});
    }
  }

 private:
  static std::string must_be(const std::string& kind, const At& at) {
    const Json& json = *at.json;
    const std::string is =
        json.integer() != nullptr ? std::to_string(*json.integer()) : std::string(json.kind_name());
    return "must be " + kind + ", is " + is;
  }

  std::optional<base::Error> error_;
};

using At = LogReader::At;

std::vector<int64_t> read_run_sizes(LogReader& reader, const At& at, const char* key) {
  std::vector<int64_t> run_sizes;
  reader.each(at, key, [&](const At& item) {
    if (run_sizes.size() == kRunClasses) return reader.wrong(item, "is one class too many");
    run_sizes.push_back(reader.count(item, kCountMax));
  });
  return run_sizes;
}

Transfers read_transfers(LogReader& reader, const At& at) {
  Transfers transfers;
  transfers.calls = reader.count(at, "calls");
  transfers.bytes = reader.count(at, "bytes");
  transfers.seconds = reader.seconds(at, "seconds");
  transfers.run_sizes = read_run_sizes(reader, at, "run_sizes");
  constexpr const char* kIndependentSizes = "independent_run_sizes";
  if (reader.member(at, kIndependentSizes).json != nullptr) {
    transfers.independent_run_sizes = read_run_sizes(reader, at, kIndependentSizes);
  }
  return transfers;
}

EngineUse read_engine(LogReader& reader, const At& at) {
  EngineUse use;
  const std::string direction = reader.text(at, "direction");
  if (direction != "read" && direction != "write") {
    reader.wrong(reader.member(at, "direction"), "must be \"read\" or \"write\"");
  }
  use.direction = direction == "write" ? Direction::kWrite : Direction::kRead;
  use.mode = reader.text(at, "mode");
  use.engine = reader.text(at, "engine");
  use.reason = reader.text(at, "reason");
  use.calls = reader.count(at, "calls");
  use.bytes = reader.count(at, "bytes");
  use.seconds = reader.seconds(at, "seconds");
  return use;
}

RankRecord read_rank(LogReader& reader, const At& at, int64_t ranks) {
  RankRecord record;
  if (at.json->object() == nullptr) reader.wrong(at, "must be an object");
  record.rank = reader.count(at, "rank");
  if (record.rank >= ranks) {
    reader.wrong(reader.member(at, "rank"), "is no rank of " + std::to_string(ranks));
  }
  record.opens = reader.count(at, "opens");
  record.read = read_transfers(reader, reader.object(at, "read"));
  record.write = read_transfers(reader, reader.object(at, "write"));
  const At seconds = reader.object(at, "seconds");
  for (size_t i = 0; i < kPhases.size(); ++i) {
    record.seconds[i] = reader.seconds(seconds, kPhases[i]);
  }
  reader.each(at, "engines",
              [&](const At& item) { record.engines.push_back(read_engine(reader, item)); });
  return record;
}

JobRecord read_job(LogReader& reader, const At& at) {
  JobRecord job;
  job.program = reader.text(at, "program");
  job.mpi = reader.text(at, "mpi");
  job.ranks = reader.count(at, "ranks", kRanksMax);
  job.nodes = reader.count(at, "nodes", kRanksMax);
  job.started = reader.text(at, "started");
  job.seconds = reader.seconds(at, "seconds");
  job.unfinished = reader.flag(at, "unfinished");
  job.missing = reader.text(at, "missing");
  job.library = reader.text(at, "library");
  if (job.ranks < 1) reader.wrong(reader.member(at, "ranks"), "must be at least 1");
  return job;
}

void check_format(LogReader& reader, const At& root) {
  if (root.json->object() == nullptr || reader.text(root, "format") != kFormat) {
    return reader.wrong(root, "is no report of Tessera; its \"format\" must be \"tessera-report\"");
  }
  const int64_t version = reader.count(root, "version");
  if (version == kVersion) return;
  reader.wrong(reader.member(root, "version"), "version " + std::to_string(version) +
                                                   " is not known; this program reads version 1");
}

}  // namespace

Result<ReportLog> parse_report(std::string_view text) {
  TESSERA_TRY(const Json json, Json::parse(text, kReportLimits));
  LogReader reader;
  const At root = {&json, ""};
  ReportLog log;
  check_format(reader, root);
  if (!reader.error()) log.job = read_job(reader, reader.object(root, "job"));
  reader.each(root, "files", [&](const At& item) {
    if (item.json->object() == nullptr) return reader.wrong(item, "must be an object");
    FileRecord file;
    file.path = reader.text(item, "path");
    reader.each(item, "ranks", [&](const At& rank) {
      file.ranks.push_back(read_rank(reader, rank, log.job.ranks));
    });
    log.files.push_back(std::move(file));
  });
  if (reader.error()) return base::Failure{*reader.error()};
  return log;
}

}  // namespace tessera::cli
