#include "bench/lock_mode_bench.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "bench/harness.hpp"
#include "bench/mpiio_pool.hpp"

namespace tessera::bench {

namespace {

constexpr const char* kServiceTime = "2ms";
constexpr double kListOfNone = 0.85;
constexpr double kPrivateOfNone = 0.95;
constexpr int64_t kRounds = 17;  // of which the medians are held to these
constexpr int64_t kFilmFrames = 100;
// Frames that a screen reads in one repetition; the next goes on with those behind.
constexpr int64_t kFramesAtOnce = 5;
// Above so many processes a mode in which they wait for each other is run once: it takes seconds.
constexpr int kProcessesOften = 16;

// Where the files lie, and the jobs that use them.
struct Store {
  std::string title;
  bool emulated = false;
  std::shared_ptr<MpiPool> pool;
};

enum class Pattern { kBlock3d, kFlash, kTileReader };

// One of the paper's benchmarks on so many processes.
struct Benchmark {
  Pattern pattern = Pattern::kBlock3d;
  int processes = 0;
  const char* paper = "";  // list locking against none; of the tile reader, against the others
  bool exclusive_reads = false;

  [[nodiscard]] bool overlaps() const { return pattern == Pattern::kTileReader; }
};

// By processes, so that a job is used for all of its benchmarks.
constexpr Benchmark kBenchmarks[] = {
    {Pattern::kBlock3d, 8, "93 % of none"},   {Pattern::kFlash, 8, "90 % of none"},
    {Pattern::kFlash, 16, "97 % of none"},    {Pattern::kBlock3d, 27, "62 % of none"},
    {Pattern::kFlash, 32, "106 % of none"},   {Pattern::kBlock3d, 64, "75 % of none"},
    {Pattern::kFlash, 64, "105.5 % of none"}, {Pattern::kTileReader, 6, "1.12x the others", true},
    {Pattern::kTileReader, 6, "not in it"},
};

const char* title_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kBlock3d:
      return "3-D block 100^3";
    case Pattern::kFlash:
      return "FLASH";
    case Pattern::kTileReader:
      return "tile reader";
  }
  return "";
}

const char* figure_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kBlock3d:
      return "paper 1, Figure 4";
    case Pattern::kFlash:
      return "paper 1, Figure 5";
    case Pattern::kTileReader:
      return "paper 1, Figure 6";
  }
  return "";
}

Workload workload_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kBlock3d:
      return {"block3d", {100, 0, 0}};
    case Pattern::kFlash:
      // Packed in memory: gathering is the same in all modes, and what 64 processes do at once
      // elsewhere would here wait for few cores.
      return {"flash", {80, 1, 0}};
    case Pattern::kTileReader:
      break;
  }
  return {"reader", {kFilmFrames, 0, 0}};
}

// A way to lock, as hints.
struct LockMode {
  const char* name;
  const char* lock;  // tessera_lock
  bool proves = false;
};
constexpr LockMode kNone = {"none", "none"};
constexpr LockMode kFile = {"file", "file"};
constexpr LockMode kRange = {"range", "range"};
constexpr LockMode kList = {"list", "list"};
constexpr LockMode kPrivate = {"list, proven private", "list", true};

Operation operation_of(const Store& store, const Benchmark& benchmark, const LockMode& mode) {
  Operation operation;
  operation.workload = workload_of(benchmark.pattern);
  operation.access = Access::kIndependent;
  operation.flow = benchmark.overlaps() ? Flow::kRead : Flow::kWrite;
  operation.atomic = true;
  operation.slow = store.emulated;
  operation.hints = fmt::format("tessera_lock={},tessera_lock_private={}", mode.lock,
                                mode.proves ? "enable" : "disable");
  // In the paper all locks are exclusive. Modes are compared under one sharing of reads.
  if (benchmark.exclusive_reads) operation.hints += ",tessera_lock_reads=exclusive";
  if (store.emulated) operation.hints += ",tessera_engine=list";
  return operation;
}

JobKind job_of(const Store& store, int processes) {
  JobKind kind = {"openmpi", "Tessera", processes, {}, true};
  if (store.emulated) {
    kind.arguments = {"-x", fmt::format("TESSERA_EMULATED_STORE={}", kServiceTime)};
  }
  return kind;
}

int64_t frames_of(const Benchmark& benchmark) { return benchmark.overlaps() ? kFramesAtOnce : 1; }

Contestant contestant_of(const Store& store, const Benchmark& benchmark, const LockMode& mode,
                         int64_t rounds_max = 0) {
  const Operation operation = operation_of(store, benchmark, mode);
  const JobKind kind = job_of(store, benchmark.processes);
  const int64_t frames = frames_of(benchmark);
  return {mode.name,
          [pool = store.pool, kind, operation, frames](int64_t repetitions) {
            return pool->measure(kind, false, operation, repetitions * frames);
          },
          nullptr, rounds_max};
}

// What all cases of a benchmark have in common; its bytes are checked first.
base::Result<Case> make_case(const Store& store, const Benchmark& benchmark, const LockMode& mode) {
  const JobKind kind = job_of(store, benchmark.processes);
  const Operation operation = operation_of(store, benchmark, mode);
  TESSERA_TRY(MpiJob * job, store.pool->job(kind, false));
  TESSERA_TRY(const int64_t bytes, job->prepare(operation.workload));
  TESSERA_TRY_VOID(store.pool->verify(kind, false, operation));
  Case measured;
  measured.unit = "MB/s";
  measured.kind = Kind::kRate;
  measured.unit_ns = 1e3;
  measured.amount = static_cast<double>(bytes * frames_of(benchmark));
  measured.x = benchmark.processes;
  measured.x_label = "processes";
  measured.ours = contestant_of(store, benchmark, mode);
  measured.paper = Paper{benchmark.paper, figure_of(benchmark.pattern)};
  measured.rounds_min = kRounds;
  measured.against = benchmark.overlaps() ? kFile.name : kNone.name;
  measured.note = "ratio to " + measured.against;
  if (store.emulated) measured.note += fmt::format("; emulated: {} a request", kServiceTime);
  return measured;
}

// Bytes that no two processes share: list against none, and the others beside it.
base::Result<Case> make_disjoint_case(const Store& store, const Benchmark& benchmark) {
  TESSERA_TRY(Case measured, make_case(store, benchmark, kList));
  const int64_t often = benchmark.processes <= kProcessesOften ? kFarRounds : 1;
  const int64_t file_rounds = benchmark.pattern == Pattern::kBlock3d ? kFarRounds : often;
  measured.peers = {contestant_of(store, benchmark, kNone),
                    contestant_of(store, benchmark, kFile, file_rounds),
                    contestant_of(store, benchmark, kRange, 1)};
  if (!store.emulated) return measured;
  measured.bars = {{Bar::Kind::kRatioAtLeast, kListOfNone, kNone.name}};
  if (benchmark.processes == 8) measured.bars.push_back({Bar::Kind::kRatioAtLeast, 6, kFile.name});
  if (benchmark.processes == 64) {
    measured.bars.push_back({Bar::Kind::kRatioAtLeast, 30, kFile.name});
  }
  return measured;
}

base::Result<Case> make_private_case(const Store& store, const Benchmark& benchmark) {
  TESSERA_TRY(Case measured, make_case(store, benchmark, kPrivate));
  measured.peers = {contestant_of(store, benchmark, kNone)};
  if (store.emulated) measured.bars = {{Bar::Kind::kRatioAtLeast, kPrivateOfNone, kNone.name}};
  return measured;
}

// Screens that share their edges: list against exclusive locks of the file, as in the paper.
base::Result<Case> make_reader_case(const Store& store, const Benchmark& benchmark) {
  TESSERA_TRY(Case measured, make_case(store, benchmark, kList));
  measured.peers = {contestant_of(store, benchmark, kNone), contestant_of(store, benchmark, kFile),
                    contestant_of(store, benchmark, kRange, 1)};
  if (store.emulated && benchmark.exclusive_reads) {
    measured.bars = {{Bar::Kind::kRatioAtLeast, 1.12, kFile.name}};
  }
  return measured;
}

void add_cases(const Store& store, const Benchmark& benchmark, std::vector<CaseMaker>& cases) {
  const std::string group = fmt::format("{}: {}", store.title, title_of(benchmark.pattern));
  const std::string name = fmt::format("{}, {} processes{}", group, benchmark.processes,
                                       !benchmark.overlaps()       ? ""
                                       : benchmark.exclusive_reads ? ", reads exclusive"
                                                                   : ", reads shared");
  if (benchmark.overlaps()) {
    cases.push_back({name, group, [=] { return make_reader_case(store, benchmark); }});
    return;
  }
  cases.push_back({name, group, [=] { return make_disjoint_case(store, benchmark); }});
  cases.push_back({name + ", private", group + ", private",
                   [=] { return make_private_case(store, benchmark); }});
}

}  // namespace

std::vector<CaseMaker> lock_mode_cases() {
  const Store stores[] = {
      {"emulated store", true, std::make_shared<MpiPool>(ScratchFolder::Place::kMemory)},
      {"local files", false, std::make_shared<MpiPool>()}};
  std::vector<CaseMaker> cases;
  for (const Store& store : stores) {
    for (const Benchmark& benchmark : kBenchmarks) add_cases(store, benchmark, cases);
  }
  return cases;
}

}  // namespace tessera::bench
