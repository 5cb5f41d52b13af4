#include "tessera/mpiio/journal.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "tessera/base/hot.hpp"
#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"
#include "tessera/mpiio/stopwatch.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

namespace {

using base::JsonWriter;

struct Traffic {
  int64_t calls = 0;
  int64_t bytes = 0;
  int64_t ns = 0;
  std::array<int64_t, 63> run_sizes{};  // [i]: runs of 2^i up to 2^(i+1) bytes
};

struct Use {
  int64_t calls = 0;
  int64_t bytes = 0;
  int64_t ns = 0;
  std::string reason;  // the first one given
};
using UseKey = std::tuple<move::Direction, bool, move::Engine>;

// What one rank did to one file.
struct Record {
  int64_t opens = 0;
  Traffic read;
  Traffic write;
  std::array<int64_t, 4> stage_ns{};  // by Stage
  move::Phases phases;
  std::map<UseKey, Use> uses;
};

// Looks at so many stripes of a pattern at most, so that counting stays cheap.
constexpr int kMaxStripes = 1000;

void count_runs(const pattern::Pattern& file, Traffic& traffic) {
  pattern::Cursor<1> cursor(file);
  pattern::Stripe<1> stripe;
  for (int i = 0; i < kMaxStripes && cursor.next(stripe); ++i) {
    const size_t bits = std::bit_width(static_cast<uint64_t>(stripe.length));
    if (bits > 0) traffic.run_sizes[bits - 1] += stripe.count;
  }
}

double seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

void write_traffic(JsonWriter& out, const char* name, const Traffic& traffic) {
  out.key(name).begin_object(JsonWriter::Layout::kOneLine);
  out.member("calls", traffic.calls).member("bytes", traffic.bytes);
  out.member("seconds", seconds(traffic.ns)).key("run_sizes");
  out.begin_array(JsonWriter::Layout::kOneLine);
  size_t used = traffic.run_sizes.size();
  while (used > 0 && traffic.run_sizes[used - 1] == 0) --used;
  for (size_t i = 0; i < used; ++i) out.value(traffic.run_sizes[i]);
  out.end_array().end_object();
}

void write_seconds(JsonWriter& out, const Record& record) {
  out.key("seconds").begin_object(JsonWriter::Layout::kOneLine);
  out.member("open", seconds(record.stage_ns[0])).member("view", seconds(record.stage_ns[1]));
  out.member("exchange", seconds(record.phases.exchange_ns));
  out.member("io", seconds(record.phases.io_ns)).member("lock", seconds(record.phases.lock_ns));
  out.member("copy", seconds(record.phases.copy_ns));
  out.member("sync", seconds(record.stage_ns[2])).member("close", seconds(record.stage_ns[3]));
  out.end_object();
}

void write_uses(JsonWriter& out, const Record& record) {
  out.key("engines").begin_array();
  for (const auto& [key, use] : record.uses) {
    const auto& [direction, collective, engine] = key;
    out.begin_object(JsonWriter::Layout::kOneLine);
    out.member("direction", move::direction_name(direction));
    out.member("mode", collective ? "collective" : "independent");
    out.member("engine", move::engine_name(engine)).member("reason", use.reason);
    out.member("calls", use.calls).member("bytes", use.bytes);
    out.member("seconds", seconds(use.ns)).end_object();
  }
  out.end_array();
}

void write_record(JsonWriter& out, int rank, const Record& record) {
  out.begin_object().member("rank", rank).member("opens", record.opens);
  write_traffic(out, "read", record.read);
  write_traffic(out, "write", record.write);
  write_seconds(out, record);
  write_uses(out, record);
  out.end_object();
}

std::string utc(std::time_t when) {
  std::tm parts = {};
  gmtime_r(&when, &parts);
  char text[32] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string program_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

base::Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// From when the library was loaded, which is when the program began.
const Stopwatch kSinceLoaded;
const std::time_t kLoaded = std::time(nullptr);

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

struct Journal::State {
  port::Guarded<std::map<std::string, Record>> records;
  port::Guarded<std::set<std::string>> explained;
  std::string directory;
};

Journal::Journal()
    : reports_(is_set("TESSERA_REPORT")), explains_(is_set("TESSERA_EXPLAIN")), state_(new State) {
  if (reports_) state_->directory = std::getenv("TESSERA_REPORT");
}

TESSERA_HOT Journal& Journal::get() {
  static auto& journal = *new Journal;
  return journal;
}

void Journal::note_stage(const std::string& path, Stage stage, int64_t ns) {
  if (!reports_) return;
  state_->records.with([&](auto& records) {
    Record& record = records[path];
    record.stage_ns[static_cast<size_t>(stage)] += ns;
    if (stage == Stage::kOpen) ++record.opens;
  });
}

void Journal::note_operation(const std::string& path, int rank, const Operation& operation) {
  if (explains_ && rank == 0) explain(path, operation);
  if (!reports_) return;
  state_->records.with([&](auto& records) {
    Record& record = records[path];
    const bool reads = operation.direction == move::Direction::kRead;
    Traffic& traffic = reads ? record.read : record.write;
    ++traffic.calls;
    traffic.bytes += operation.bytes;
    traffic.ns += operation.ns;
    count_runs(*operation.file, traffic);
    record.phases.exchange_ns += operation.phases.exchange_ns;
    record.phases.io_ns += operation.phases.io_ns;
    record.phases.lock_ns += operation.phases.lock_ns;
    record.phases.copy_ns += operation.phases.copy_ns;
    Use& use = record.uses[{operation.direction, operation.collective, operation.choice.engine}];
    if (use.calls == 0) use.reason = operation.choice.reason;
    ++use.calls;
    use.bytes += operation.bytes;
    use.ns += operation.ns;
  });
}

void Journal::explain(const std::string& path, const Operation& operation) {
  const std::string kind = std::string(operation.collective ? "collective " : "independent ") +
                           move::direction_name(operation.direction);
  const bool first = state_->explained.with([&](auto& explained) {
    return explained.insert(path + '\n' + kind + move::engine_name(operation.choice.engine)).second;
  });
  if (!first) return;
  std::fprintf(stderr, "tessera: %s: %s: %s: %s\n", path.c_str(), kind.c_str(),
               move::engine_name(operation.choice.engine), operation.choice.reason.c_str());
}

void Journal::note_locks(const std::string& path, const std::string& how) {
  if (explains_) {
    std::fprintf(stderr, "tessera: %s: atomic mode locks %s\n", path.c_str(), how.c_str());
  }
}

void Journal::note_grouping(const std::string& path, int64_t bytes,
                            std::optional<int64_t> share_bytes) {
  if (!explains_) return;
  const bool first = state_->explained.with(
      [&](auto& explained) { return explained.insert(path + "\nreplicated").second; });
  if (!first) return;
  std::fprintf(stderr, "tessera: %s: replicated bytes: rank 0 writes %lld of %lld bytes%s\n",
               path.c_str(), static_cast<long long>(share_bytes.value_or(bytes)),
               static_cast<long long>(bytes),
               share_bytes ? "" : ", for they are too complex to be grouped");
}

void Journal::note_costs(const std::string& path, const std::string& origin) {
  if (explains_) std::fprintf(stderr, "tessera: %s: costs: %s\n", path.c_str(), origin.c_str());
}

void Journal::note_ignored_hint(const std::string& path, const std::string& what) {
  std::fprintf(stderr, "tessera: %s: hint ignored: %s\n", path.c_str(), what.c_str());
}

// What this rank did, as a JSON array of files.
std::string Journal::own_text(int rank) {
  JsonWriter out(JsonWriter::Style::kCompact);
  out.begin_array();
  state_->records.with([&](const auto& records) {
    for (const auto& [path, record] : records) {
      out.begin_object().member("path", path).key("record");
      write_record(out, rank, record);
      out.end_object();
    }
  });
  return out.end_array().finish();
}

// The log of all ranks, from what each of them wrote.
std::string Journal::merged_text(const std::vector<base::Bytes>& texts, int ranks) {
  std::vector<base::Json> parsed;
  for (const base::Bytes& bytes : texts) {
    auto json = base::Json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (json) parsed.push_back(*std::move(json));
  }
  std::map<std::string, std::vector<const base::Json*>> files;
  for (const base::Json& rank : parsed) {
    for (const base::Json& file : *rank.array()) {
      files[*file.find("path")->string()].push_back(file.find("record"));
    }
  }
  JsonWriter out;
  out.begin_object().member("format", "tessera-report").member("version", 1);
  out.key("job").begin_object().member("program", program_path());
  out.member("mpi", TESSERA_MPI).member("ranks", ranks);
  out.member("started", utc(kLoaded)).member("seconds", seconds(kSinceLoaded.ns()));
  out.member("library", TESSERA_VERSION).end_object().key("files").begin_array();
  for (const auto& [path, records] : files) {
    out.begin_object().member("path", path).key("ranks").begin_array();
    for (const base::Json* record : records) out.value(*record);
    out.end_array().end_object();
  }
  return out.end_array().end_object().finish();
}

void Journal::finish(port::Exchange& all) {
  if (!reports_) return;
  const auto texts = all.gather(0, bytes_of(own_text(all.rank())));
  if (!texts || all.rank() != 0) return;
  const std::string text = merged_text(*texts, all.size());
  const std::filesystem::path program = program_path();
  const std::filesystem::path path =
      std::filesystem::path(state_->directory) /
      ("tessera-" + program.filename().string() + "-" + std::to_string(kLoaded) + "-" +
       std::to_string(getpid()) + ".json");
  std::error_code error;
  std::filesystem::create_directories(state_->directory, error);
  std::ofstream stream(path);
  stream << text;
  stream.close();
  if (!stream) {
    std::fprintf(stderr, "tessera: cannot write the report %s\n", path.c_str());
  }
}

}  // namespace tessera::mpiio
