#include "bench/mpiio_resource_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/statistics.hpp"

namespace tessera::bench {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr int kMemoryRanks = 16;
constexpr double kAllowedMiB = 64;  // besides the aggregators' buffers
constexpr double kAnswerSeconds = 120;
constexpr int64_t kOverlapBytes = int64_t{256} << 20;
constexpr int kOverlapTrials = 5;

JobKind tessera_job(const std::string& mpi, int ranks) { return {mpi, "Tessera", ranks, {}, true}; }

JobKind romio_job(const std::string& mpi, int ranks) {
  if (mpi == "mpich") return {mpi, "ROMIO", ranks};
  return {mpi, "ROMIO", ranks, {"--mca", "io", "romio321"}};
}

std::vector<JobKind> stock_jobs(const std::string& mpi, int ranks) {
  std::vector<JobKind> jobs = {romio_job(mpi, ranks)};
  if (mpi == "openmpi") jobs.push_back({mpi, "OMPIO", ranks});
  return jobs;
}

base::Result<std::vector<double>> ask(MpiPool& pool, const JobKind& kind, const Workload* workload,
                                      const std::string& line, size_t numbers) {
  TESSERA_TRY(MpiJob * job, pool.job(kind, false));
  if (workload != nullptr) TESSERA_TRY_VOID(job->prepare(*workload));
  TESSERA_TRY(const auto answer, job->ask(line, kAnswerSeconds));
  if (answer.size() != numbers) return base::fail(base::Code::kFailed, "unexpected answer");
  return answer;
}

// --- memory
// ----------------------------------------------------------------------------------------

struct MemoryCase {
  std::string title;
  Workload workload;
  Flow flow = Flow::kWrite;
};

base::Result<Case> make_memory(const MemoryCase& what, MpiPool& pool) {
  const std::string line = what.flow == Flow::kRead ? "memory read" : "memory write";
  TESSERA_TRY(const auto ours,
              ask(pool, tessera_job("openmpi", kMemoryRanks), &what.workload, line, 3));
  Case measured;
  measured.unit = "MiB a rank";
  measured.kind = Kind::kSize;
  measured.ours = sized("Tessera", ours[0] / kMiB);
  measured.bars = {{Bar::Kind::kAtMost, ours[1] / kMiB * ours[2] + kAllowedMiB}};
  measured.note = fmt::format(
      "1000000 runs a rank; cb_buffer_size {:.0f} MiB, cb_nodes {:.0f}; memory shared by the "
      "ranks counts once, data buffers do not count",
      ours[1] / kMiB, ours[2]);
  // OMPIO takes minutes for so many runs on so many ranks.
  TESSERA_TRY(const auto romio,
              ask(pool, romio_job("openmpi", kMemoryRanks), &what.workload, line, 3));
  measured.peers = {sized("ROMIO", romio[0] / kMiB)};
  return measured;
}

// --- overlap
// ---------------------------------------------------------------------------------------

struct OverlapCase {
  std::string mpi;
  int cores = 2;
};

// Time of both together, over the longer of the two with a core free, over their sum without.
base::Result<double> overlap_of(MpiPool& pool, const JobKind& kind, int cores) {
  std::vector<double> quotients;
  const std::string line = fmt::format("overlap {} {}", kOverlapBytes, cores);
  for (int i = 0; i < kOverlapTrials; ++i) {
    TESSERA_TRY(const auto ns, ask(pool, kind, nullptr, line, 3));
    quotients.push_back(ns[2] / (cores > 1 ? std::max(ns[0], ns[1]) : ns[0] + ns[1]));
  }
  return median(quotients);
}

base::Result<Case> make_overlap(const OverlapCase& what, MpiPool& pool) {
  Case measured;
  measured.unit = what.cores > 1 ? "of the longer" : "of the sum";
  measured.kind = Kind::kSize;
  TESSERA_TRY(const double ours, overlap_of(pool, tessera_job(what.mpi, 1), what.cores));
  measured.ours = sized("Tessera", ours);
  measured.bars = {{Bar::Kind::kAtMost, what.cores > 1 ? 1.2 : 1.1}};
  measured.note =
      fmt::format("each library against its own times alone; median of {} trials", kOverlapTrials);
  for (const JobKind& kind : stock_jobs(what.mpi, 1)) {
    TESSERA_TRY(const double theirs, overlap_of(pool, kind, what.cores));
    measured.peers.push_back(sized(kind.library, theirs));
  }
  return measured;
}

}  // namespace

std::vector<CaseMaker> mpiio_memory_cases(const std::shared_ptr<MpiPool>& pool) {
  const Workload regular = {"column", {8, 1'000'000, 0}};
  const Workload irregular = {"irregular", {1'000'000, 4, 12}};
  std::vector<CaseMaker> cases;
  for (const Flow flow : {Flow::kWrite, Flow::kRead}) {
    for (const auto& [title, workload] :
         {std::pair{"regular", regular}, {"irregular", irregular}}) {
      const MemoryCase what = {title, workload, flow};
      cases.push_back({fmt::format("Open MPI {}: memory, {} collective {}", kMemoryRanks, title,
                                   flow == Flow::kRead ? "read" : "write"),
                       "memory", [what, pool] { return make_memory(what, *pool); }});
    }
  }
  return cases;
}

std::vector<CaseMaker> mpiio_overlap_cases(const std::shared_ptr<MpiPool>& pool) {
  std::vector<CaseMaker> cases;
  for (const char* mpi : {"openmpi", "mpich"}) {
    for (const int cores : {2, 1}) {
      const OverlapCase what = {mpi, cores};
      cases.push_back(
          {fmt::format("{}: overlap of iwrite, {}", what.mpi == "mpich" ? "MPICH" : "Open MPI",
                       cores > 1 ? "one core free" : "no core free"),
           "overlap", [what, pool] { return make_overlap(what, *pool); }});
    }
  }
  return cases;
}

}  // namespace tessera::bench
