#include "bench/atomic_bench.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "bench/mpiio_pool.hpp"

namespace tessera::bench {

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kOperations = 10'000;
constexpr double kAnswerSeconds = 300;
constexpr double kSlowNs = 1e9;

using Pool = std::shared_ptr<MpiPool>;

JobKind ours_at(int ranks) { return {"openmpi", "Tessera", ranks, {}, true}; }

// The stock libraries, each as it comes.
std::vector<JobKind> stock_at(int ranks) {
  return {{"openmpi", "OMPIO", ranks}, {"openmpi", "ROMIO", ranks, {"--mca", "io", "romio321"}}};
}

// --- how fast

struct Work {
  const char* title;
  Workload workload;
  int ranks = 0;
  Flow flow = Flow::kWrite;
};

// By ranks, so that jobs are used for all of theirs.
const Work kWorks[] = {
    {"contiguous 4 KiB", {"contiguous", {4096, 0, 0}}, 4},
    {"contiguous 1 MiB", {"contiguous", {kMiB, 0, 0}}, 4},
    {"strided 256 B", {"column", {256, 8 * kMiB / 256 / 4, 0}}, 4},
    {"tile reader", {"reader", {10, 0, 0}}, 6, Flow::kRead},
    {"3-D block 100^3", {"block3d", {100, 0, 0}}, 8},
    {"FLASH", {"flash", {80, 0, 0}}, 8},
};

// `trial_ns` is what one took; where that is seconds, another is enough.
Contestant contestant_of(const Pool& pool, const JobKind& kind, const Operation& operation,
                         double trial_ns) {
  const auto run_in = [=](bool twin) {
    return [=](int64_t repetitions) { return pool->measure(kind, twin, operation, repetitions); };
  };
  return {kind.library, run_in(false), run_in(true), trial_ns > kSlowNs ? 1 : 0};
}

// The stock library that locks in atomic mode. The other one makes independent accesses without a
// lock, and is shown beside it: what it is quicker by is what it leaves out.
constexpr const char* kLocking = "ROMIO";

base::Result<Case> make_speed_case(const Pool& pool, const Work& work, Access access) {
  Operation operation;
  operation.workload = work.workload;
  operation.access = access;
  operation.flow = work.flow;
  operation.atomic = true;
  const JobKind ours = ours_at(work.ranks);
  TESSERA_TRY(const double ours_ns, pool->verify(ours, false, operation));
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.ours = contestant_of(pool, ours, operation, ours_ns);
  for (const JobKind& kind : stock_at(work.ranks)) {
    const auto works = pool->verify(kind, false, operation);
    if (works) {
      measured.peers.push_back(contestant_of(pool, kind, operation, *works));
      if (kind.library == kLocking) measured.against = kLocking;
    } else {
      measured.note += fmt::format("{} is out: {}; ", kind.library, works.error().message());
    }
  }
  if (!measured.peers.empty()) measured.bars = {{Bar::Kind::kNotBelowNoise}};
  return measured;
}

// --- views with gaps and without them, in turn

constexpr int kAlternatingRanks = 4;
constexpr int64_t kAlternatingRounds = 500;      // of which the first ones start a service
constexpr int64_t kAlternatingRoundsMpich = 20;  // whose ranks poll while they wait
constexpr double kAlternatingOfStock = 0.8;

Contestant alternating(const Pool& pool, const JobKind& kind, int64_t rounds) {
  const auto run_in = [=](bool twin) {
    return [=](int64_t repetitions) -> base::Result<double> {
      TESSERA_TRY(MpiJob * job, pool->job(kind, twin));
      TESSERA_TRY(
          const auto answer,
          job->ask(fmt::format("alternating {} a -", repetitions * rounds), kAnswerSeconds));
      if (answer.size() != 1) return base::fail(base::Code::kFailed, "the peer answered no time");
      return answer[0];
    };
  };
  return {kind.library, run_in(false), run_in(true)};
}

base::Result<Case> make_alternating_case(const Pool& pool, const std::string& mpi) {
  JobKind romio = {mpi, kLocking, kAlternatingRanks};
  const bool open_mpi = mpi == "openmpi";
  if (open_mpi) romio.arguments = {"--mca", "io", "romio321"};
  const int64_t rounds = open_mpi ? kAlternatingRounds : kAlternatingRoundsMpich;
  Case measured;
  measured.unit = "us per round";
  measured.unit_ns = 1e3;
  measured.amount = static_cast<double>(rounds);
  measured.ours = alternating(pool, {mpi, "Tessera", kAlternatingRanks, {}, true}, rounds);
  measured.peers = {alternating(pool, romio, rounds)};
  measured.bars = {{Bar::Kind::kRatioAtLeast, kAlternatingOfStock, kLocking}};
  measured.note = "a round is a strided write by all ranks and a contiguous read by one, checked";
  return measured;
}

// --- whether it is atomic

// Violations of so many overlapping writes.
base::Result<int64_t> violations(const Pool& pool, const JobKind& kind, const std::string& hints) {
  TESSERA_TRY(MpiJob * job, pool->job(kind, false));
  TESSERA_TRY(const auto found,
              job->ask(fmt::format("atomicity {} a {}", kOperations, hints), kAnswerSeconds));
  if (found.size() != 2) return base::fail(base::Code::kFailed, "the peer answered no counts");
  return static_cast<int64_t>(found[0]);
}

// What was found, or why nothing was, in words.
std::string text_of(const base::Result<int64_t>& found) {
  return found ? std::to_string(*found) : "failed (" + found.error().message() + ")";
}

base::Result<Case> make_violations_case(const Pool& pool, int ranks) {
  const JobKind ours = ours_at(ranks);
  TESSERA_TRY(const int64_t found, violations(pool, ours, "-"));
  TESSERA_TRY(const int64_t control, violations(pool, ours, "tessera_lock=none"));
  if (control == 0) {
    return base::fail(base::Code::kFailed,
                      "writes without locks were not mixed either, so the check shows nothing");
  }
  Case measured;
  measured.unit = "violations";
  measured.kind = Kind::kSize;
  measured.ours = sized("Tessera", static_cast<double>(found));
  measured.bars = {{Bar::Kind::kAtMost, 0}};
  for (const JobKind& kind : stock_at(ranks)) {
    measured.note += fmt::format("{}: {}, ", kind.library, text_of(violations(pool, kind, "-")));
  }
  measured.note += fmt::format("ours without locks: {}", control);
  return measured;
}

}  // namespace

std::vector<CaseMaker> atomic_cases() {
  const auto pool = std::make_shared<MpiPool>();
  std::vector<CaseMaker> cases;
  for (const int ranks : {4, 8}) {
    cases.push_back(
        {fmt::format("atomic: {} overlapping strided writes, {} ranks", kOperations, ranks),
         "atomic: violations", [=] { return make_violations_case(pool, ranks); }});
  }
  for (const auto& [mpi, title] : {std::pair("openmpi", "Open MPI"), std::pair("mpich", "MPICH")}) {
    cases.push_back(
        {fmt::format("atomic: alternating views, {} ranks, {}", kAlternatingRanks, title),
         "atomic: alternating views",
         [pool, mpi = mpi] { return make_alternating_case(pool, mpi); }});
  }
  for (const Work& work : kWorks) {
    for (const Access access : {Access::kIndependent, Access::kCollective}) {
      const char* how = access == Access::kIndependent ? "independent" : "collective";
      cases.push_back({fmt::format("atomic: {}, {} ranks, {}", work.title, work.ranks, how),
                       fmt::format("atomic: {}", how),
                       [=] { return make_speed_case(pool, work, access); }});
    }
  }
  return cases;
}

}  // namespace tessera::bench
