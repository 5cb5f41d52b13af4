#include "bench/mesh_plan_bench.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "bench/mpiio_stock.hpp"
#include "bench/peak_memory.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/grid_mesh.hpp"
#include "tessera/owner/writers_codec.hpp"

namespace tessera::bench {

namespace {

constexpr mesh::GridSize kMillions = {216, 216, 216};  // 10,077,696 nodes
constexpr mesh::GridSize kEighth = {108, 108, 108};
constexpr mesh::GridSize kThousands = {66, 66, 66};  // 287,496 nodes
constexpr mesh::GridSize kParts = {4, 4, 4};
constexpr double kGrowthMax = 1.5;  // of the time of a node, at eight times as many

// A mesh in memory, in blocks.
struct Divided {
  explicit Divided(const mesh::GridSize& size)
      : whole(mesh::grid_mesh(size)), partition(mesh::grid_blocks(size, kParts)) {}

  mesh::Mesh whole;
  mesh::Partition partition;
};

base::Result<owner::Writers> plan(const Divided& divided) {
  return owner::choose_writers(mesh::classify(divided.whole, divided.partition), {});
}

base::Result<double> timed_plans(const Divided& divided, int64_t repetitions) {
  const double start = now_ns();
  for (int64_t i = 0; i < repetitions; ++i) {
    TESSERA_TRY(const owner::Writers writers, plan(divided));
    keep(writers.intervals().data());
  }
  return now_ns() - start;
}

Contestant planner(std::string name, const std::shared_ptr<Divided>& divided) {
  return {std::move(name),
          [divided](int64_t repetitions) { return timed_plans(*divided, repetitions); }};
}

base::Result<Case> thousands() {
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.ours = planner("Tessera", std::make_shared<Divided>(kThousands));
  measured.bars = {{Bar::Kind::kAtMost, 300}};
  measured.note = "classification and choice of writers, optimal, 64 parts";
  return measured;
}

base::Result<Case> millions() {
  const double factor =
      static_cast<double>(kMillions.nodes()) / static_cast<double>(kEighth.nodes());
  const auto eighth = std::make_shared<Divided>(kEighth);
  Case measured;
  measured.unit = "s";
  measured.unit_ns = 1e9;
  measured.ours = planner("Tessera", std::make_shared<Divided>(kMillions));
  measured.peers = {{"1.26 M nodes, eight times", [eighth, factor](int64_t repetitions) {
                       auto ns = timed_plans(*eighth, repetitions);
                       if (ns) *ns *= factor;
                       return ns;
                     }}};
  measured.bars = {{Bar::Kind::kAtMost, 10}, {Bar::Kind::kRatioAtLeast, 1 / kGrowthMax}};
  measured.in_mean = false;
  measured.note = "classification and choice of writers, optimal, 64 parts";
  return measured;
}

base::Result<double> memory_of_millions() {
  forget_peak_memory();
  const Divided divided(kMillions);
  TESSERA_TRY(const owner::Writers writers, plan(divided));
  keep(writers.intervals().data());
  TESSERA_TRY(const int64_t bytes, peak_memory_bytes());
  return static_cast<double>(bytes) / 1e9;
}

base::Result<Case> millions_in_memory() {
  Case measured;
  measured.unit = "GB";
  measured.kind = Kind::kSize;
  measured.ours = {"Tessera", [](int64_t) { return memory_of_millions(); }};
  measured.bars = {{Bar::Kind::kAtMost, 3}};
  measured.note = "the mesh counts too, and making it";
  return measured;
}

// --- a saved plan --------------------------------------------------------------------------------

constexpr int kReuseRanks = 8;

base::Result<void> save_plan(const owner::Writers& writers, const std::string& path) {
  TESSERA_TRY(const base::Bytes bytes, owner::encode_plan({"optimal", 0, "", writers}));
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return base::fail(base::Code::kFailed, "cannot write " + path);
  return {};
}

// What a rank does once before its first write: from the file to its intervals.
base::Result<std::vector<owner::WriterInterval>> load_share(const std::string& path,
                                                            owner::Process rank) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  TESSERA_TRY(const owner::WriterPlan plan, owner::decode_plan(base::bytes_of(text)));
  return plan.writers.share_of(rank);
}

base::Result<Case> reuse(const std::shared_ptr<MpiPool>& pool,
                         const std::shared_ptr<MeshShares>& shares) {
  const ShareChoice choice = {mesh::Order::kRcm, kReuseRanks, owner::Policy::kOptimal};
  TESSERA_TRY(const owner::Writers* writers, shares->writers(choice));
  TESSERA_TRY(const std::string folder, pool->folder());
  const std::string path = folder + "/plan";
  TESSERA_TRY_VOID(save_plan(*writers, path));
  Operation write;
  TESSERA_TRY(write.workload, shares->workload(choice, 1));
  write.timed = Timed::kTyped;
  const JobKind job = {"openmpi", "Tessera", kReuseRanks, {}, true};
  Case measured;
  measured.unit = "us";
  measured.unit_ns = 1e3;
  measured.ours = {"load and take a share", [path](int64_t repetitions) -> base::Result<double> {
                     const double start = now_ns();
                     for (int64_t i = 0; i < repetitions; ++i) {
                       TESSERA_TRY(const auto share, load_share(path, 0));
                       keep(share.data());
                     }
                     return now_ns() - start;
                   }};
  measured.peers = {{"one write of 1 double a node", runner(pool, job, false, write),
                     runner(pool, job, true, write)}};
  measured.in_mean = false;
  measured.note = fmt::format("{} intervals; once for all writes, since no write needs it again",
                              std::ssize(writers->intervals()));
  return measured;
}

}  // namespace

std::vector<CaseMaker> mesh_plan_cases(const std::shared_ptr<MpiPool>& pool,
                                       const std::shared_ptr<MeshShares>& shares) {
  return {{"plan 290 k nodes", "plan", thousands},
          {"plan 10 M nodes", "plan", millions},
          {"plan 10 M nodes, memory", "plan, memory", millions_in_memory},
          {"plan reuse", "plan reuse", [pool, shares] { return reuse(pool, shares); }}};
}

}  // namespace tessera::bench
