#include "bench/mpiio_bench.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "bench/mpiio_stock.hpp"
#include "bench/other_build.hpp"

namespace tessera::bench {

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr double kFloorToStock = 0.85;

enum class Directions { kRead, kWrite, kBoth };

// One workload at one number of ranks.
struct Work {
  std::string title;
  Workload workload;
  Directions directions = Directions::kBoth;
  Timed timed = Timed::kTransfer;
  bool small_pieces = false;  // pieces of 8 bytes, in memory or in the file
  int64_t record_bytes = 0;   // of the column-cyclic workloads
  std::string note = {};
  std::string not_compared = {};  // with another build
  bool fresh = false;             // a new file, synced
  std::optional<Access> only = {};
  std::string cause = {};  // of being slower than the best peer
};

// A machine of one MPI and so many ranks, and what of it is measured there.
struct Place {
  std::string mpi;
  int ranks = 0;
  bool everything = true;  // or only what needs few exchanges
};

const Place kPlaces[] = {{"openmpi", 2},  {"openmpi", 4}, {"openmpi", 9},
                         {"openmpi", 16}, {"mpich", 2},   {"mpich", 4, false}};

const char* name_of(Access access) {
  return access == Access::kCollective ? "collective" : "independent";
}

const char* title_of(const std::string& mpi) { return mpi == "openmpi" ? "Open MPI" : "MPICH"; }

void add_tiles(int ranks, std::vector<Work>& works) {
  const int side = static_cast<int>(std::lround(std::sqrt(ranks)));
  if (side * side != ranks) return;
  const std::string whole = "open, set_view and close are timed too";
  works.push_back({fmt::format("tile read {0}x{0}", side),
                   {"tile", {1, 0, 0}},
                   Directions::kRead,
                   Timed::kWhole,
                   false,
                   0,
                   whole});
  works.push_back({fmt::format("tile write {0}x{0}", side),
                   {"tile", {0, 0, 0}},
                   Directions::kWrite,
                   Timed::kWhole,
                   false,
                   0,
                   whole});
}

void add_columns(int ranks, std::vector<Work>& works) {
  works.push_back({"column-cyclic 8 B",
                   {"column", {8, 8 * kMiB / 8 / ranks, 0}},
                   Directions::kBoth,
                   Timed::kTransfer,
                   true,
                   8,
                   "8 MiB in all"});
  works.push_back({"column-cyclic 256 B",
                   {"column", {256, 32 * kMiB / 256 / ranks, 0}},
                   Directions::kBoth,
                   Timed::kTransfer,
                   false,
                   256,
                   "32 MiB in all"});
}

void add_others(int ranks, std::vector<Work>& works) {
  works.push_back({"3-D block 100^3", {"block3d", {100, 0, 0}}});
  works.back().cause = "1 us for the view and the choice of an engine, of a copy within the caches";
  works.push_back({"3-D block 240^3", {"block3d", {240, 0, 0}}});
  works.push_back({"FLASH checkpoint",
                   {"flash", {80, 0, 0}},
                   Directions::kWrite,
                   Timed::kWhole,
                   true,
                   0,
                   "open, set_view and close are timed too"});
  works.push_back({"BLOCK-CYCLIC matrix",
                   {"matrix", {2048, 32, 0}},
                   Directions::kBoth,
                   Timed::kTransfer,
                   false,
                   0,
                   "2048^2 doubles in blocks of 32^2"});
  const int64_t runs = ranks <= 4 ? 100'000 : 25'000;
  works.push_back({"irregular",
                   {"irregular", {runs, 8, 512}},
                   Directions::kBoth,
                   Timed::kWhole,
                   false,
                   0,
                   fmt::format("{} runs a process; open, set_view and close are timed too", runs)});
  works.push_back({"contiguous 64 MiB",
                   {"contiguous", {64 * kMiB / ranks, 0, 0}},
                   Directions::kBoth,
                   Timed::kTransfer,
                   false,
                   0,
                   "64 MiB in all"});
  works.push_back({"contiguous 4 KiB",
                   {"contiguous", {4096, 0, 0}},
                   Directions::kBoth,
                   Timed::kTransfer,
                   false,
                   0,
                   "4 KiB a process",
                   "4 KiB cases"});
  works.back().cause =
      "0.1 us for the file and its view, of 0.5; collectively, the ranks also agree on the status";
}

// What strangers' benchmarks do: new files in short runs, strided memory, interleaved blocks.
void add_strangers(int ranks, std::vector<Work>& works) {
  const int64_t records = 4 * kMiB / 64 / ranks;
  for (const bool strided : {false, true}) {
    Work fresh = {strided ? "new file, 64 B runs, strided memory" : "new file, 64 B runs",
                  {"column", {64, records, strided ? 1 : 0}}};
    fresh.directions = Directions::kWrite;
    fresh.timed = Timed::kWhole;
    fresh.note = "4 MiB in all; from the open of a new file to its sync and close";
    fresh.fresh = true;
    fresh.only = Access::kIndependent;
    works.push_back(fresh);
  }
  Work again = {"contiguous 16 MiB, strided memory", {"contiguous", {16 * kMiB / ranks, 64, 0}}};
  again.note = "16 MiB in all, in memory every second 64 B; the file was written before";
  again.only = Access::kCollective;
  works.push_back(again);
  Work blocks = {"interleaved 4 KiB", {"column", {4096, 32 * kMiB / 4096 / ranks, 0}}};
  blocks.directions = Directions::kWrite;
  blocks.note = "32 MiB in all";
  blocks.not_compared = "4 KiB cases";
  blocks.only = Access::kIndependent;
  works.push_back(blocks);
}

std::vector<Work> works_at(const Place& place) {
  std::vector<Work> works;
  add_tiles(place.ranks, works);
  add_columns(place.ranks, works);
  if (place.everything) add_others(place.ranks, works);
  if (place.everything && place.ranks <= 4) add_strangers(place.ranks, works);
  return works;
}

// What one case measures.
struct Spot {
  Place place;
  Work work;
  Flow flow = Flow::kWrite;
  Access access = Access::kCollective;
};

// Why a case is not compared with another build.
std::string not_compared(const Spot& spot, int64_t bytes) {
  const Work& work = spot.work;
  const bool repeated = work.timed == Timed::kTransfer && !work.fresh;
  if (!work.not_compared.empty() || !repeated) return work.not_compared;
  return not_compared_when_repeated(bytes / spot.place.ranks);
}

base::Result<Case> make_case(const Spot& spot, const std::shared_ptr<MpiPool>& pool,
                             const std::shared_ptr<Fields>& fields) {
  Operation operation;
  operation.workload = spot.work.workload;
  operation.flow = spot.flow;
  operation.timed = spot.work.timed;
  operation.access = spot.access;
  operation.fresh = operation.synced = spot.work.fresh;
  const JobKind ours = {spot.place.mpi, "Tessera", spot.place.ranks, {}, true};
  TESSERA_TRY_VOID(pool->verify(ours, false, operation));
  TESSERA_TRY(MpiJob* const job, pool->job(ours, false));
  TESSERA_TRY(const int64_t bytes, job->prepare(operation.workload));
  TESSERA_TRY(const Field field,
              fields->find(spot.place.mpi, spot.place.ranks, operation, spot.work.small_pieces));
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.x = spot.place.ranks;
  measured.x_label = "ranks";
  measured.not_compared = not_compared(spot, bytes);
  set_ours(pool, "Tessera", ours, operation, measured);
  measured.like = name_of(spot.access);
  for (const StockMode& mode : field.contenders) {
    measured.peers.push_back(stock_contestant(pool, mode, operation));
  }
  measured.dropped_ns = field.dropped_ns;
  operation.access = Access::kPosix;
  measured.ceiling = {spot.flow == Flow::kRead ? "pread in one piece" : "pwrite in one piece",
                      runner(pool, field.contenders.front().kind, false, operation)};
  measured.bars = {{Bar::Kind::kFloor, kFloorToStock}};
  if (spot.access == Access::kCollective && spot.work.record_bytes != 0) {
    for (const Bar& bar : column_bars(spot.place.mpi, spot.place.ranks, spot.work.record_bytes)) {
      measured.bars.push_back(bar);
    }
  }
  measured.note = field.note + spot.work.note;
  measured.cause = spot.work.cause;
  return measured;
}

CaseMaker maker_of(const Spot& spot, const std::shared_ptr<MpiPool>& pool,
                   const std::shared_ptr<Fields>& fields) {
  const bool named_by_direction = spot.work.directions != Directions::kBoth;
  const std::string what = named_by_direction
                               ? spot.work.title
                               : spot.work.title + (spot.flow == Flow::kRead ? " read" : " write");
  const char* how = name_of(spot.access);
  const char* mpi = title_of(spot.place.mpi);
  return {fmt::format("{} {}: {}, {}", mpi, spot.place.ranks, what, how),
          fmt::format("{}: {}, {}", mpi, what, how),
          [spot, pool, fields] { return make_case(spot, pool, fields); }};
}

std::vector<Flow> flows_of(Directions directions) {
  switch (directions) {
    case Directions::kRead:
      return {Flow::kRead};
    case Directions::kWrite:
      return {Flow::kWrite};
    case Directions::kBoth:
      break;
  }
  return {Flow::kWrite, Flow::kRead};
}

std::vector<std::pair<Flow, Access>> moves_of(const Work& work) {
  std::vector<std::pair<Flow, Access>> moves;
  for (const Flow flow : flows_of(work.directions)) {
    for (const Access access : {Access::kIndependent, Access::kCollective}) {
      if (work.only.value_or(access) == access) moves.emplace_back(flow, access);
    }
  }
  return moves;
}

}  // namespace

std::vector<Bar> column_bars(const std::string& mpi, int ranks, int64_t record_bytes) {
  const Bar collective = {Bar::Kind::kRatioToBestOf, 0, "collective"};
  std::vector<Bar> bars;
  const auto hold = [&](double to_collective, double to_any) {
    bars.push_back(collective);
    bars.back().value = to_collective;
    if (to_any > 0) bars.push_back({Bar::Kind::kRatioToAny, to_any});
  };
  const bool small = record_bytes == 8;
  if (mpi == "openmpi" && ranks >= 4) small ? hold(40, 2.5) : hold(5, 1.5);
  if (mpi == "mpich" && small) ranks >= 4 ? hold(40, 0) : hold(20, 2);
  return bars;
}

std::vector<CaseMaker> mpiio_cases(const std::shared_ptr<MpiPool>& pool) {
  const auto fields = std::make_shared<Fields>(pool);
  std::vector<CaseMaker> cases;
  for (const Place& place : kPlaces) {
    for (const Work& work : works_at(place)) {
      for (const auto& [flow, access] : moves_of(work)) {
        cases.push_back(maker_of({place, work, flow, access}, pool, fields));
      }
    }
  }
  return cases;
}

}  // namespace tessera::bench
