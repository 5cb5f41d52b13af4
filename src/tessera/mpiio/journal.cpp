#include "tessera/mpiio/journal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/mpiio/stopwatch.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/telemetry/job_log.hpp"

namespace tessera::mpiio {

namespace {

std::string program_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

// From when the library was loaded, which is when the program began.
const Stopwatch kSinceLoaded;
const std::time_t kLoaded = std::time(nullptr);

std::string absolute_path(const char* path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

std::string log_name(int64_t started, int64_t process) {
  return "tessera-" + std::filesystem::path(program_path()).filename().string() + "-" +
         std::to_string(started) + "-" + std::to_string(process);
}

telemetry::JobFacts facts_of(int64_t ranks, int64_t started) {
  return {program_path(), TESSERA_MPI, TESSERA_VERSION, ranks, started};
}

// Longer reasons are cut.
template <size_t N>
void put(std::array<char, N>& place, const std::string& text) {
  const size_t size = std::min(text.size(), N - 1);
  std::copy_n(text.data(), size, place.data());
  place[size] = 0;
}

// A job that is killed meanwhile leaves no part of a log.
base::Result<void> replace_log(const std::string& path, const std::string& text) {
  constexpr mode_t kPermissions = 0666;  // less the umask
  TESSERA_TRY(const auto fresh, port::PosixFreshFile::create(path, kPermissions));
  TESSERA_TRY_VOID(fresh->file().write_at(0, base::bytes_of(text)).status);
  return fresh->publish(port::Existing::kReplace);
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

struct Journal::State {
  port::Guarded<telemetry::RankCounts> counts;
  port::Guarded<std::set<std::string>> explained;
  std::string directory;  // of logs, absolute: the program may go elsewhere
  std::string name;       // of this job's log, without its ending
};

Journal::Journal()
    : reports_(is_set("TESSERA_REPORT")), explains_(is_set("TESSERA_EXPLAIN")), state_(new State) {
  if (!reports_) return;
  state_->directory = absolute_path(std::getenv("TESSERA_REPORT"));
  state_->name = log_name(kLoaded, getpid());
}

TESSERA_HOT Journal& Journal::get() {
  static auto& journal = *new Journal;
  return journal;
}

void Journal::note_stage(const std::string& path, Stage stage, int64_t ns) {
  if (!reports_) return;
  state_->counts.with([&](telemetry::RankCounts& counts) {
    telemetry::FileCounts& file = counts.of(path);
    file.stage_ns[static_cast<size_t>(stage)] += ns;
    if (stage == Stage::kOpen) ++file.opens;
    // A view is set as often as a file is accessed.
    if (stage == Stage::kView) {
      counts.save_if_due(kSinceLoaded.ns(), 0);
    } else {
      counts.save(kSinceLoaded.ns());
    }
  });
}

void Journal::note_operation(const std::string& path, int rank, const Operation& operation) {
  if (explains_ && rank == 0) explain(path, operation);
  if (!reports_) return;
  state_->counts.with([&](telemetry::RankCounts& counts) {
    telemetry::FileCounts& file = counts.of(path);
    const bool reads = operation.direction == move::Direction::kRead;
    telemetry::Traffic& traffic = reads ? file.read : file.write;
    ++traffic.calls;
    traffic.bytes += operation.bytes;
    traffic.ns += operation.ns;
    telemetry::count_runs(*operation.file, traffic.run_sizes[operation.collective]);
    file.exchange_ns += operation.phases.exchange_ns;
    file.io_ns += operation.phases.io_ns;
    file.lock_ns += operation.phases.lock_ns;
    file.copy_ns += operation.phases.copy_ns;
    telemetry::Use& use = file.uses[move::index_of(operation.direction)][operation.collective]
                                   [static_cast<size_t>(operation.choice.engine)];
    if (use.calls == 0) put(use.reason, operation.choice.reason);
    ++use.calls;
    use.bytes += operation.bytes;
    use.ns += operation.ns;
    counts.save_if_due(kSinceLoaded.ns(), operation.bytes);
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

void Journal::begin(port::Exchange& all) {
  if (!reports_) return;
  base::Bytes mine;
  base::ByteWriter writer(mine);
  writer.sized_bytes(base::bytes_of(state_->name));
  writer.signed_varint(kLoaded);
  const auto first = all.broadcast(0, mine);
  if (!first) return;
  base::ByteReader reader(*first);
  const auto name = reader.sized_bytes();
  const auto started = reader.signed_varint();
  if (!name || !started) return;
  state_->name = base::text_of(*name);
  const std::string folder = state_->directory + "/" + state_->name + telemetry::kUnfinished;
  state_->counts.with([&](telemetry::RankCounts& counts) {
    counts.keep_in(folder, all.rank(), facts_of(all.size(), *started));
  });
}

void Journal::save() {
  if (!reports_) return;
  state_->counts.try_with([](telemetry::RankCounts& counts) { counts.save(kSinceLoaded.ns()); });
}

// On the first rank.
bool Journal::write_log(const std::vector<base::Bytes>& texts, int ranks) {
  std::vector<std::string> rank_texts;
  for (const base::Bytes& bytes : texts) rank_texts.emplace_back(base::text_of(bytes));
  const double seconds = static_cast<double>(kSinceLoaded.ns()) * 1e-9;
  const std::string text =
      telemetry::log_text(facts_of(ranks, kLoaded), {seconds, false, ""}, rank_texts);
  std::error_code error;
  std::filesystem::create_directories(state_->directory, error);
  const std::string path = state_->directory + "/" + state_->name + ".json";
  const auto written = replace_log(path, text);
  if (written) return true;
  std::fprintf(stderr, "tessera: cannot write the report %s: %s\n", path.c_str(),
               written.error().message().c_str());
  return false;
}

void Journal::finish(port::Exchange& all) {
  if (!reports_) return;
  const std::string mine = state_->counts.with([&](telemetry::RankCounts& counts) {
    return telemetry::rank_text(all.rank(), counts.all());
  });
  const auto texts = all.gather(0, base::copy_of(base::bytes_of(mine)));
  const bool written = texts && (all.rank() != 0 || write_log(*texts, all.size()));
  // Only once the log is there do the ranks' own files go.
  const auto done = all.agree(written ? base::Result<void>()
                                      : base::fail(base::Code::kFailed, "no log is written"));
  if (!done) return;
  state_->counts.with([](telemetry::RankCounts& counts) { counts.end(); });
}

}  // namespace tessera::mpiio
