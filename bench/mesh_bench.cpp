#include "bench/mesh_bench.hpp"

#include <fmt/format.h>

#include <utility>

#include "bench/mpiio_stock.hpp"
#include "bench/other_build.hpp"

namespace tessera::bench {

namespace {

using owner::Policy;

const char* const kMpi = "openmpi";
constexpr int64_t kSmallLoad = 10;  // up to which a bar is higher
// From which an operation takes so long that nothing is repeated uncounted.
constexpr int64_t kLargeLoad = 100;

// What is written: a field of so many doubles a node, by so many ranks.
struct Spot {
  mesh::Order order = mesh::Order::kRcm;
  int ranks = 0;
  int64_t load = 1;
};

// A way of ours to write it.
struct Strategy {
  std::string name;
  Access access = Access::kCollective;
  std::string hints = "-";
};

// What makes and measures the cases.
struct Tools {
  std::shared_ptr<MpiPool> pool;
  std::shared_ptr<MeshShares> shares;
};

const Strategy kAutomatic = {"automatic"};
const Strategy kList = {"list I/O", Access::kCollective,
                        "tessera_engine=list,tessera_collective=independent"};

std::vector<Strategy> fixed_strategies(int ranks) {
  return {
      {"sequential gather", Access::kCollective,
       "tessera_collective=two_phase,cb_nodes=1,cb_buffer_size=1G"},
      {"independent", Access::kIndependent},
      {"two_phase", Access::kCollective,
       fmt::format("tessera_collective=two_phase,cb_nodes={},cb_config_list=*:*", ranks)},
      kList,
      {"window", Access::kCollective, "tessera_collective=window"},
  };
}

// Then the first write to an open file is counted, and those after it find its mapping.
bool is_slow(const Spot& spot) { return spot.load >= kLargeLoad; }

JobKind own_job(int ranks) { return {kMpi, "Tessera", ranks, {}, true}; }

base::Result<Operation> operation_of(const Spot& spot, Policy policy, const Strategy& strategy,
                                     const Tools& tools) {
  Operation operation;
  TESSERA_TRY(operation.workload,
              tools.shares->workload({spot.order, spot.ranks, policy}, spot.load));
  operation.timed = Timed::kTyped;
  operation.access = strategy.access;
  operation.hints = strategy.hints;
  operation.slow = is_slow(spot);
  return operation;
}

// Ours, its bytes checked.
base::Result<Contestant> own_contestant(const Spot& spot, Policy policy, const Strategy& strategy,
                                        const Tools& tools) {
  TESSERA_TRY(const Operation operation, operation_of(spot, policy, strategy, tools));
  const JobKind kind = own_job(spot.ranks);
  TESSERA_TRY_VOID(tools.pool->verify(kind, false, operation));
  return Contestant{fmt::format("{}, {}", owner::policy_name(policy), strategy.name),
                    runner(tools.pool, kind, false, operation),
                    runner(tools.pool, kind, true, operation)};
}

std::string intervals_note(const Spot& spot, const Tools& tools) {
  std::string note = "intervals, imbalance:";
  for (const Policy policy : owner::all_policies()) {
    const auto writers = tools.shares->writers({spot.order, spot.ranks, policy});
    if (!writers) {
      note += fmt::format(" {} none ({}),", owner::policy_name(policy), writers.error().message());
      continue;
    }
    const owner::WriterMetrics metrics = owner::measure(**writers);
    note += fmt::format(" {} {} {:.2f},", owner::policy_name(policy), metrics.intervals,
                        metrics.imbalance);
  }
  note.pop_back();
  return note;
}

base::Result<Case> own_case(const Spot& spot, const Tools& tools) {
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.x = spot.ranks;
  measured.x_label = "ranks";
  measured.repetitions_help = is_slow(spot);
  TESSERA_TRY(const Contestant ours, own_contestant(spot, Policy::kOptimal, kAutomatic, tools));
  TESSERA_TRY(const Operation operation, operation_of(spot, Policy::kOptimal, kAutomatic, tools));
  TESSERA_TRY(MpiJob* const job, tools.pool->job(own_job(spot.ranks), false));
  TESSERA_TRY(const int64_t bytes, job->prepare(operation.workload));
  measured.not_compared = spot.load == 1 ? "meshes with 1 double a node"
                                         : not_compared_when_repeated(bytes / spot.ranks);
  set_ours(tools.pool, ours.name, own_job(spot.ranks), operation, measured);
  return measured;
}

// Every mode of the stock libraries twice: by METIS's own choice of writers, which is what programs
// have, and by ours.
base::Result<std::vector<StockMode>> stock_mesh_modes(const Spot& spot, const Tools& tools) {
  std::vector<StockMode> modes;
  for (const Policy policy : {Policy::kHome, Policy::kOptimal}) {
    TESSERA_TRY(const Workload workload,
                tools.shares->workload({spot.order, spot.ranks, policy}, spot.load));
    for (StockMode mode : stock_modes(kMpi, spot.ranks)) {
      mode.name += fmt::format(" ({})", owner::policy_name(policy));
      mode.workload = workload;
      modes.push_back(std::move(mode));
    }
  }
  return modes;
}

base::Result<Case> against_stock(const Spot& spot, const Tools& tools) {
  TESSERA_TRY(Case measured, own_case(spot, tools));
  TESSERA_TRY(Operation operation, operation_of(spot, Policy::kOptimal, kAutomatic, tools));
  TESSERA_TRY(const auto modes, stock_mesh_modes(spot, tools));
  TESSERA_TRY(const Field field, find_field(*tools.pool, modes, operation, false));
  for (const StockMode& mode : field.contenders) {
    measured.peers.push_back(stock_contestant(tools.pool, mode, operation));
  }
  measured.dropped_ns = field.dropped_ns;
  operation.access = Access::kPosix;
  measured.ceiling = {"pwrite in one piece",
                      runner(tools.pool, field.contenders.front().kind, false, operation)};
  measured.like = "collective";
  measured.bars = {{Bar::Kind::kNotBelowNoise}};
  if (spot.load <= kSmallLoad) measured.bars.push_back({Bar::Kind::kRatioAtLeast, 2.0});
  measured.note = field.note + intervals_note(spot, tools);
  return measured;
}

base::Result<Case> strategies(const Spot& spot, const Tools& tools) {
  TESSERA_TRY(Case measured, own_case(spot, tools));
  for (const Strategy& strategy : fixed_strategies(spot.ranks)) {
    TESSERA_TRY(Contestant peer, own_contestant(spot, Policy::kOptimal, strategy, tools));
    measured.peers.push_back(std::move(peer));
  }
  measured.bars = {{Bar::Kind::kNearBest, 1 / 1.1}};
  measured.in_mean = false;
  return measured;
}

base::Result<Case> policies(const Spot& spot, const Tools& tools) {
  TESSERA_TRY(Case measured, own_case(spot, tools));
  measured.in_mean = false;
  measured.note = intervals_note(spot, tools);
  for (const Policy policy : owner::all_policies()) {
    if (!tools.shares->writers({spot.order, spot.ranks, policy})) continue;  // the note says why
    for (const Strategy& strategy : {kAutomatic, kList}) {
      TESSERA_TRY(Contestant peer, own_contestant(spot, policy, strategy, tools));
      if (peer.name != measured.ours.name) measured.peers.push_back(std::move(peer));
    }
  }
  return measured;
}

// A question that is asked at every spot, or at those of few loads.
struct Question {
  const char* name;
  base::Result<Case> (*make)(const Spot&, const Tools&);
  std::vector<int64_t> loads;
};

struct Numbering {
  mesh::Order order;
  const char* name;
  std::vector<Question> questions;
};

// The whole sweep in the order that has most to gain; the order along an axis where that decides.
std::vector<Numbering> numberings() {
  const std::vector<int64_t> all = {1, 10, 50, 100, 500};
  const std::vector<int64_t> some = {1, 10, 100};
  return {
      {mesh::Order::kRcm,
       "RCM order",
       {{"against stock", against_stock, all},
        {"strategies", strategies, all},
        {"policies", policies, {1, 10, 100, 500}}}},
      {mesh::Order::kFile,
       "order along an axis",
       {{"against stock", against_stock, some}, {"strategies", strategies, some}}},
  };
}

CaseMaker maker_of(const Spot& spot, const Numbering& numbering, const Question& question,
                   const Tools& tools) {
  const std::string what = fmt::format("{}, {} double{} a node, {}", numbering.name, spot.load,
                                       spot.load == 1 ? "" : "s", question.name);
  return {fmt::format("Open MPI {}: {}", spot.ranks, what), what,
          [spot, make = question.make, tools] { return make(spot, tools); }};
}

void add_cases(int ranks, const Numbering& numbering, const Tools& tools,
               std::vector<CaseMaker>& cases) {
  for (const Question& question : numbering.questions) {
    for (const int64_t load : question.loads) {
      cases.push_back(maker_of({numbering.order, ranks, load}, numbering, question, tools));
    }
  }
}

}  // namespace

std::vector<CaseMaker> mesh_write_cases(const std::shared_ptr<MpiPool>& pool,
                                        const std::shared_ptr<MeshShares>& shares) {
  const Tools tools = {pool, shares};
  std::vector<CaseMaker> cases;
  for (const int ranks : {4, 7, 8, 10, 14}) {
    for (const Numbering& numbering : numberings()) add_cases(ranks, numbering, tools, cases);
  }
  return cases;
}

}  // namespace tessera::bench
