#include "bench/price_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bench/mpiio_stock.hpp"
#include "bench/remap_files.hpp"
#include "bench/remap_views.hpp"
#include "bench/statistics.hpp"
#include "bench/tile_reading.hpp"
#include "tessera/remap/plan.hpp"

namespace tessera::bench {

namespace {

using base::Result;

constexpr int kReadTrials = 15;
constexpr int kRemapTrials = 5;
constexpr double kMiB = 1 << 20;
constexpr double kMs = 1e6;

struct Machine {
  std::shared_ptr<MpiPool> pool = std::make_shared<MpiPool>();
  std::shared_ptr<Fields> fields = std::make_shared<Fields>(pool);
};

// --- bytes

Result<Case> make_copies_case(int side) {
  const object::Wall wall = paper_wall(side);
  std::vector<remap::Consumer> readers;
  for (pattern::ByteSet& view : object::reader_views(wall)) {
    readers.push_back({static_cast<int32_t>(readers.size()), std::move(view)});
  }
  TESSERA_TRY(const remap::Plan plan, remap::make_plan(wall.file_bytes(), readers));
  const auto extra = static_cast<double>(plan.extra_bytes());
  const auto whole = static_cast<double>(wall.file_bytes());
  Case measured;
  measured.unit = "MiB";
  measured.kind = Kind::kSize;
  measured.x = side;
  measured.x_label = "screens on a side";
  measured.ours = sized("copies of shared bytes", extra / kMiB);
  measured.note =
      fmt::format("{:.1f} % of the file's {:.1f} MiB", 100 * extra / whole, whole / kMiB);
  return measured;
}

// --- time

// Medians of trials that take turns, so that what disturbs the machine disturbs all alike.
Result<std::vector<double>> medians_ns(const std::vector<Contestant>& contestants, int trials) {
  std::vector<std::vector<double>> found(contestants.size());
  for (int i = 0; i < trials; ++i) {
    for (size_t who = 0; who < contestants.size(); ++who) {
      TESSERA_TRY(const double ns, contestants[who].run(1));
      found[who].push_back(ns);
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& times : found) medians.push_back(median(times));
  return medians;
}

struct ReadTimes {
  double ours_ns = 0;
  double stock_ns = 0;
  std::string stock;  // the best mode
};

// Of an independent read of all tiles, the file open, against the best stock mode of any kind.
Result<ReadTimes> time_reads(const Machine& machine, int side) {
  MpiPool& pool = *machine.pool;
  const Operation plain = tile_read(Access::kIndependent, Timed::kTransfer);
  Operation objects = plain;
  objects.file = FileKind::kReplicated;
  TESSERA_TRY_VOID(put_tiles_in_one_place(pool, side, objects));
  const JobKind ours = tessera_at(side * side);
  std::vector<Contestant> contestants = {{"ours", runner(machine.pool, ours, false, objects)}};
  TESSERA_TRY(const Field field, machine.fields->find(kOpenMpi, side * side, plain, false));
  for (const StockMode& mode : field.contenders) {
    contestants.push_back(stock_contestant(machine.pool, mode, plain));
  }
  TESSERA_TRY(const auto medians, medians_ns(contestants, kReadTrials));
  const auto best = std::min_element(medians.begin() + 1, medians.end());
  return ReadTimes{medians.front(), *best,
                   contestants[static_cast<size_t>(best - medians.begin())].name};
}

Result<std::shared_ptr<const RemapFiles>> make_image(int side) {
  const object::Wall wall = paper_wall(side);
  TESSERA_TRY(ScratchFolder folder, ScratchFolder::make());
  const auto files = std::make_shared<const RemapFiles>(RemapFiles{std::move(folder)});
  TESSERA_TRY_VOID(make_plain_file(files->source(), wall.file_bytes()));
  TESSERA_TRY_VOID(write_text(files->views(), views_text(wall)));
  TESSERA_TRY_VOID(remap_once(*files, false));
  TESSERA_TRY_VOID(check_object_file(files->target(), views_text(wall), wall.file_bytes()));
  return files;
}

Contestant remap_contestant(const std::shared_ptr<const RemapFiles>& files, bool synced) {
  const auto once = [synced](const RemapFiles& mine) -> Result<void> {
    TESSERA_TRY_VOID(remap_once(mine, synced));
    return {};
  };
  return {"tessera remap",
          [files, once](int64_t repetitions) { return time_anew(*files, repetitions, once); }};
}

std::string reads_to_pay(double remap_ns, const ReadTimes& reads) {
  const double saved = reads.stock_ns - reads.ours_ns;
  return saved > 0 ? fmt::format("{:.0f}", std::ceil(remap_ns / saved)) : "no number of";
}

Result<Case> make_remap_case(const Machine& machine, int side) {
  TESSERA_TRY(const ReadTimes reads, time_reads(machine, side));
  TESSERA_TRY(const auto files, make_image(side));
  const Contestant remap = remap_contestant(files, false);
  TESSERA_TRY(const auto times, medians_ns({remap, remap_contestant(files, true)}, kRemapTrials));
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = kMs;
  measured.x = side;
  measured.x_label = "screens on a side";
  measured.ours = remap;
  measured.note = fmt::format(
      "a read takes {:.1f} ms, {} {:.1f} ms: {:.1f} ms saved each; paid after {} reads; with sync "
      "the remap takes {:.1f} ms, paid after {} reads",
      reads.ours_ns / kMs, reads.stock, reads.stock_ns / kMs,
      (reads.stock_ns - reads.ours_ns) / kMs, reads_to_pay(times[0], reads), times[1] / kMs,
      reads_to_pay(times[1], reads));
  return measured;
}

}  // namespace

std::vector<CaseMaker> price_cases() {
  const Machine machine;
  std::vector<CaseMaker> cases;
  for (const int side : {2, 3, 4}) {
    cases.push_back({fmt::format("price: tile {0}x{0}, copies", side), "price: bytes of copies",
                     [=] { return make_copies_case(side); }});
    cases.push_back({fmt::format("price: tile {0}x{0}, remap", side), "price: time of the remap",
                     [=] { return make_remap_case(machine, side); }});
  }
  return cases;
}

}  // namespace tessera::bench
