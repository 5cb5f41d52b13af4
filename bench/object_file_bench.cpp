#include "bench/object_file_bench.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "bench/harness.hpp"
#include "bench/mpiio_stock.hpp"
#include "bench/other_build.hpp"
#include "bench/tile_reading.hpp"

namespace tessera::bench {

namespace {

constexpr const char* kLinear = "Tessera, linear file";
constexpr const char* kOpenToClose = "object files from open to close";
constexpr int kSidesInFull = 4;  // larger walls are on so few cores that only little is measured
constexpr double kOfPreadUnverified = 0.9;
constexpr double kOfPreadVerified = 0.75;
constexpr double kOfStockSynced = 3;
// How often an open file is read where the read alone is measured.
constexpr int64_t kReadsOfAnOpenFile = 8;
constexpr int64_t kSharingRounds = 200;
constexpr int64_t kFilesAtOnce = 300;
constexpr double kAnswerSeconds = 300;

using Pool = std::shared_ptr<MpiPool>;

// What all cases of this bench share.
struct Machine {
  Pool pool = std::make_shared<MpiPool>();
  std::shared_ptr<Fields> fields = std::make_shared<Fields>(pool);
};

const char* name_of(Access access) {
  return access == Access::kCollective ? "collective" : "independent";
}

Case timed_case(int ranks) {
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.x = ranks;
  measured.x_label = "ranks";
  return measured;
}

// The stock modes that contend at an operation on the plain file.
base::Result<void> add_stock(const Machine& machine, int ranks, const Operation& operation,
                             bool small_pieces, Case& measured) {
  TESSERA_TRY(const Field field, machine.fields->find(kOpenMpi, ranks, operation, small_pieces));
  for (const StockMode& mode : field.contenders) {
    measured.peers.push_back(stock_contestant(machine.pool, mode, operation));
  }
  measured.dropped_ns = field.dropped_ns;
  measured.note += field.note;
  return {};
}

// --- reading

struct Reading {
  int side = 0;
  Access access = Access::kIndependent;
  Timed timed = Timed::kTransfer;
  bool verify = true;
  bool cold = false;
  bool replicated = true;

  [[nodiscard]] int ranks() const { return side * side; }
  [[nodiscard]] bool in_full() const { return side <= kSidesInFull; }
  [[nodiscard]] std::string title() const {
    return fmt::format(
        "tile read {0}x{0}, {1}, {2}, {3}{4}", side, name_of(access),
        timed == Timed::kWhole ? "open to close" : "the read", verify ? "verified" : "not verified",
        fmt::format("{}{}", replicated ? "" : ", not replicated", cold ? ", cold" : ""));
  }
};

Operation operation_of(const Reading& reading) {
  Operation operation = tile_read(reading.access, reading.timed);
  operation.cold = reading.cold;
  operation.slow = !reading.in_full();
  return operation;
}

// All modes of both kinds, for walls of so many ranks that full rounds of a field take too long:
// each runs in few rounds, one repetition each, without a second job.
void add_tried_stock(const Machine& machine, const Reading& reading, Case& measured) {
  for (const StockMode& mode : stock_modes(kOpenMpi, reading.ranks())) {
    const auto tried = machine.pool->verify(mode.kind, false, as_in(mode, operation_of(reading)));
    if (!tried) {
      measured.note += fmt::format("{} is out: {}; ", mode.name, tried.error().message());
      continue;
    }
    Contestant peer = stock_contestant(machine.pool, mode, operation_of(reading));
    peer.twin = nullptr;
    peer.rounds_max = kFarRounds;
    measured.peers.push_back(std::move(peer));
  }
}

// Has everybody do it so often at a time, and shows what one of them takes.
void repeat_each(int64_t times, Case& measured) {
  const auto repeat = [times](Contestant& contestant) {
    for (auto* run : {&contestant.run, &contestant.twin}) {
      if (*run == nullptr) continue;
      *run = [once = *run, times](int64_t repetitions) { return once(repetitions * times); };
    }
  };
  repeat(measured.ours);
  if (measured.comparison) repeat(measured.comparison->before);
  for (Contestant& peer : measured.peers) repeat(peer);
  if (measured.ceiling) repeat(*measured.ceiling);
  for (auto& [name, ns] : measured.dropped_ns) ns *= static_cast<double>(times);
  measured.amount *= static_cast<double>(times);
}

// Ours, and where it is compared all on files of one layout.
base::Result<void> set_reader(const Machine& machine, const Reading& reading,
                              const Operation& objects, Case& measured) {
  const JobKind ours = tessera_at(reading.ranks());
  const std::string name = "Tessera, object file";
  if (!reading.in_full()) {
    measured.ours = {name, runner(machine.pool, ours, false, objects)};
    measured.not_compared = "two more jobs of so many ranks have no room";
    return {};
  }
  if (reading.timed == Timed::kWhole) measured.not_compared = kOpenToClose;
  set_ours(machine.pool, name, ours, objects, measured);
  if (!reading.replicated) return {};
  return put_compared_tiles_in_one_place(*machine.pool, reading.side, objects, measured);
}

base::Result<Case> make_read_case(const Machine& machine, const Reading& reading) {
  const Operation plain = operation_of(reading);
  Operation objects = plain;
  objects.file = reading.replicated ? FileKind::kReplicated : FileKind::kObjects;
  if (!reading.verify) objects.hints = "tessera_verify=off";
  const JobKind ours = tessera_at(reading.ranks());
  if (reading.replicated) {
    TESSERA_TRY_VOID(put_tiles_in_one_place(*machine.pool, reading.side, objects));
  } else {
    TESSERA_TRY_VOID(machine.pool->verify(ours, false, objects));
  }
  Case measured = timed_case(reading.ranks());
  TESSERA_TRY_VOID(set_reader(machine, reading, objects, measured));
  measured.like = name_of(reading.access);
  if (reading.in_full()) {
    TESSERA_TRY_VOID(add_stock(machine, reading.ranks(), plain, false, measured));
  } else {
    add_tried_stock(machine, reading, measured);
  }
  Operation in_one_piece = plain;
  in_one_piece.access = Access::kPosix;
  measured.ceiling = {"pread in one piece", runner(machine.pool, ours, false, in_one_piece)};
  measured.note += reading.replicated ? "each tile in one place" : "shared bytes once";
  if (!reading.in_full()) measured.note += "; many more processes than cores";
  if (reading.timed == Timed::kTransfer && reading.in_full()) {
    repeat_each(kReadsOfAnOpenFile, measured);
    measured.note += fmt::format("; {} reads of an open file", kReadsOfAnOpenFile);
  }
  if (!reading.in_full() || reading.cold) return measured;
  measured.bars = {{Bar::Kind::kNotBelowNoise}};
  // A tile whose edges lie elsewhere is read in a few thousand short pieces.
  if (!reading.replicated) return measured;
  const double of_pread = reading.verify ? kOfPreadVerified : kOfPreadUnverified;
  measured.bars.push_back({Bar::Kind::kCeilingAtLeast, of_pread});
  return measured;
}

std::vector<Reading> readings() {
  std::vector<Reading> all;
  for (const int side : {2, 3, 4}) {
    for (const Access access : {Access::kIndependent, Access::kCollective}) {
      for (const Timed timed : {Timed::kTransfer, Timed::kWhole}) {
        all.push_back({side, access, timed, false});
        all.push_back({side, access, timed, true});
      }
    }
    all.push_back({side, Access::kCollective, Timed::kWhole, true, true});
    all.push_back({side, Access::kIndependent, Timed::kTransfer, true, false, false});
  }
  for (const int side : {6, 10}) {
    all.push_back({side, Access::kIndependent, Timed::kTransfer, true});
    all.push_back({side, Access::kCollective, Timed::kTransfer, true});
  }
  return all;
}

// --- writing

struct Writing {
  const char* title;
  Workload workload;
  int ranks = 0;
  bool small_pieces = false;
};

const Writing kWritings[] = {
    {"FLASH checkpoint", {"flash", {80, 0, 0}}, 4, true},
    {"tile write 2x2", {"tile", {0, 0, 0}}, 4},
    {"tile write 3x3", {"tile", {0, 0, 0}}, 9},
    {"FLASH checkpoint", {"flash", {80, 0, 0}}, 16, true},
    {"tile write 4x4", {"tile", {0, 0, 0}}, 16},
};

// Our linear file, both ways: an object file must not be a step back. No rival, since the ratio is
// against stock.
void add_linear(const Machine& machine, const Operation& operation, const JobKind& ours,
                Case& measured) {
  for (const Access access : {Access::kIndependent, Access::kCollective}) {
    Operation linear = operation;
    linear.access = access;
    measured.peers.push_back({fmt::format("{}, {}", kLinear, name_of(access)),
                              runner(machine.pool, ours, false, linear),
                              runner(machine.pool, ours, true, linear)});
    measured.peers.back().rival = false;
  }
}

base::Result<Case> make_write_case(const Machine& machine, const Writing& writing, Access access) {
  Operation plain;
  plain.workload = writing.workload;
  plain.access = access;
  plain.timed = Timed::kWhole;
  plain.synced = true;
  Operation objects = plain;
  objects.file = FileKind::kObjects;
  const JobKind ours = tessera_at(writing.ranks);
  TESSERA_TRY_VOID(machine.pool->verify(ours, false, objects));
  Case measured = timed_case(writing.ranks);
  measured.not_compared = kOpenToClose;
  set_ours(machine.pool, "Tessera, object file", ours, objects, measured);
  measured.like = name_of(access);
  TESSERA_TRY_VOID(add_stock(machine, writing.ranks, plain, writing.small_pieces, measured));
  add_linear(machine, plain, ours, measured);
  Operation in_one_piece = plain;
  in_one_piece.access = Access::kPosix;
  measured.ceiling = {"pwrite in one piece, fdatasync",
                      runner(machine.pool, ours, false, in_one_piece)};
  // "IO" is in the names of the stock libraries only.
  measured.bars = {{Bar::Kind::kRatioToBestOf, kOfStockSynced, "IO"},
                   {Bar::Kind::kRatioToBestOf, 1, kLinear}};
  measured.note += "open, set_view, write, sync and close are timed; written anew each time";
  return measured;
}

// --- sharing

// The time that a job answers to a command, so often.
Contestant asking(const std::string& name, const Pool& pool, const JobKind& kind,
                  const std::string& command) {
  const auto run_in = [=](bool twin) {
    return [=](int64_t repetitions) -> base::Result<double> {
      TESSERA_TRY(MpiJob * job, pool->job(kind, twin));
      double ns = 0;
      for (int64_t i = 0; i < repetitions; ++i) {
        TESSERA_TRY(const auto answer, job->ask(command, kAnswerSeconds));
        if (answer.size() != 1) return base::fail(base::Code::kFailed, "the peer answered no time");
        ns += answer[0];
      }
      return ns;
    };
  };
  return {name, run_in(false), run_in(true)};
}

// By jobs of this build, or of the other one.
Contestant sharing_contestant(const std::string& name, const Pool& pool, const JobKind& kind,
                              const std::string& way, const std::string& how) {
  return asking(name, pool, kind,
                fmt::format("sharing {} {} tessera_shared_writes={}", way, kSharingRounds, how));
}

base::Result<Case> make_sharing_case(const Machine& machine, int ranks, const std::string& way) {
  Case measured = timed_case(ranks);
  measured.unit = "us per round";
  measured.unit_ns = 1e3;
  measured.amount = static_cast<double>(kSharingRounds);
  const JobKind ours = tessera_at(ranks);
  const char* as_it_comes = "automatic";
  measured.ours = sharing_contestant(as_it_comes, machine.pool, ours, way, as_it_comes);
  for (const char* how : {"forward", "migrate"}) {
    measured.peers.push_back(sharing_contestant(how, machine.pool, ours, way, how));
    measured.peers.back().twin = nullptr;
  }
  if (!other_build().empty()) {
    const JobKind before = before_of(ours);
    measured.comparison =
        Comparison{sharing_contestant("before", machine.pool, before, way, as_it_comes)};
  }
  measured.bars = {{Bar::Kind::kNotBelowNoise}};
  measured.note = fmt::format("1 MiB at a time, {} rounds and a sync", kSharingRounds);
  return measured;
}

// --- many files

// Ours as object files, beside ours and stock as plain ones; reported, since nobody waits for it.
base::Result<Case> make_files_case(const Machine& machine, int ranks) {
  const auto creating = [&](const std::string& name, const JobKind& kind, const char* prefix) {
    return asking(name, machine.pool, kind, fmt::format("files {} {}", kFilesAtOnce, prefix));
  };
  const JobKind ours = tessera_at(ranks);
  Case measured = timed_case(ranks);
  measured.unit = "us per file";
  measured.unit_ns = 1e3;
  measured.amount = static_cast<double>(kFilesAtOnce);
  measured.ours = creating("Tessera, object files", ours, "obj:");
  measured.against = "Tessera, plain files";
  measured.peers = {
      creating(measured.against, ours, "-"),
      creating("OMPIO, plain files", {kOpenMpi, "OMPIO", ranks}, "-"),
      creating("ROMIO, plain files", {kOpenMpi, "ROMIO", ranks, {"--mca", "io", "romio321"}}, "-")};
  if (!other_build().empty()) {
    measured.comparison = Comparison{creating("before", before_of(ours), "obj:")};
  }
  measured.not_compared = kOpenToClose;
  measured.in_mean = false;
  measured.note = fmt::format("{} files, created and closed by all ranks, untouched", kFilesAtOnce);
  return measured;
}

}  // namespace

std::vector<CaseMaker> object_file_cases() {
  const Machine machine;
  std::vector<CaseMaker> cases;
  for (const Reading& reading : readings()) {
    cases.push_back({reading.title(),
                     fmt::format("object files: tile read, {}", name_of(reading.access)),
                     [=] { return make_read_case(machine, reading); }});
  }
  for (const Writing& writing : kWritings) {
    for (const Access access : {Access::kIndependent, Access::kCollective}) {
      cases.push_back(
          {fmt::format("{} and sync, {} ranks, {}", writing.title, writing.ranks, name_of(access)),
           fmt::format("object files: write and sync, {}", name_of(access)),
           [=] { return make_write_case(machine, writing, access); }});
    }
  }
  for (const char* way :
       {"private", "read-shared", "ping-pong", "producer-consumer", "scattered"}) {
    cases.push_back({fmt::format("sharing: {}, 4 ranks", way), "object files: sharing",
                     [=] { return make_sharing_case(machine, 4, way); }});
  }
  cases.push_back({fmt::format("create and close {} files, 4 ranks", kFilesAtOnce),
                   "object files: many files", [=] { return make_files_case(machine, 4); }});
  return cases;
}

}  // namespace tessera::bench
