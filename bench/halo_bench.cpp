#include "bench/halo_bench.hpp"

#include <utility>

#include "bench/mpiio_stock.hpp"
#include "bench/other_build.hpp"

namespace tessera::bench {

namespace {

constexpr int kRanks = 8;  // 2 x 2 x 2
constexpr int64_t kSide = 32;
constexpr int64_t kLayers = 2;
const char* const kWithout = "Tessera without the hint";

// The stock modes whose processes exchange data, as ours do: the others write shared bytes twice.
base::Result<Field> collective_field(MpiPool& pool, const Operation& operation) {
  std::vector<StockMode> modes = stock_modes("openmpi", kRanks);
  std::erase_if(modes, [](const StockMode& mode) { return !mode.collective(); });
  return find_field(pool, modes, operation, false);
}

base::Result<Case> make_halo(const std::shared_ptr<MpiPool>& pool) {
  const JobKind ours = {"openmpi", "Tessera", kRanks, {}, true};
  Operation operation;
  operation.workload = {"halo", {kSide, kLayers, 0}};
  Operation grouped = operation;
  grouped.hints = "tessera_replicated=true";
  for (const Operation& own : {operation, grouped}) {
    TESSERA_TRY_VOID(pool->verify(ours, false, own));
  }
  TESSERA_TRY(const Field field, collective_field(*pool, operation));
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  set_ours(pool, "Tessera, tessera_replicated=true", ours, grouped, measured);
  measured.peers.push_back(
      {kWithout, runner(pool, ours, false, operation), runner(pool, ours, true, operation)});
  for (const StockMode& mode : field.contenders) {
    measured.peers.push_back(stock_contestant(pool, mode, operation));
  }
  TESSERA_TRY(MpiJob* const job, pool->job(ours, false));
  TESSERA_TRY(const int64_t bytes, job->prepare(operation.workload));
  measured.not_compared = not_compared_when_repeated(bytes / kRanks);
  measured.against = kWithout;
  measured.dropped_ns = field.dropped_ns;
  measured.bars = {{Bar::Kind::kRatioAtLeast, 1.2, kWithout}};
  measured.in_mean = false;
  measured.note = field.note + "64^3 doubles; the files are the same byte for byte";
  return measured;
}

}  // namespace

std::vector<CaseMaker> halo_cases(const std::shared_ptr<MpiPool>& pool) {
  return {{"Open MPI 8: halo, blocks of 32^3 doubles with 2 ghost layers", "halo",
           [pool] { return make_halo(pool); }}};
}

}  // namespace tessera::bench
