#include "bench/slow_bench.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "bench/mpiio_stock.hpp"
#include "bench/slow_mount.hpp"
#include "bench/tile_reading.hpp"

namespace tessera::bench {

namespace {

using base::Result;

constexpr double kOfStock = 3;
constexpr int kSideHeld = 4;     // smaller walls have less to gain, and are reported
constexpr double kSlowNs = 1e9;  // a mode that takes longer is run once
constexpr int64_t kMebibyte = int64_t{1} << 20;

// The mount and the jobs on it, made when the first case needs them.
struct SlowMachine {
  std::optional<SlowMount> mount;  // outlives the jobs
  std::optional<MpiPool> pool;
};

using Shared = std::shared_ptr<SlowMachine>;

Result<void> mount_once(SlowMachine& machine) {
  if (machine.mount) return {};
  TESSERA_TRY(SlowMount mount, SlowMount::start());
  machine.mount.emplace(std::move(mount));
  machine.pool.emplace(machine.mount->path());
  return {};
}

// The pool as something that keeps the mount below it.
std::shared_ptr<MpiPool> pool_of(const Shared& machine) { return {machine, &*machine->pool}; }

std::vector<StockMode> modes_at(int ranks) {
  const JobKind romio = {kOpenMpi, "ROMIO", ranks, {"--mca", "io", "romio321"}};
  const JobKind ompio = {kOpenMpi, "OMPIO", ranks};
  const auto buffers = [](int64_t megabytes) {
    return fmt::format("ind_rd_buffer_size={}", megabytes * kMebibyte);
  };
  return {
      {"ROMIO independent", romio, Access::kIndependent},
      {"ROMIO independent, 4 MiB buffers", romio, Access::kIndependent, buffers(4)},
      {"ROMIO independent, 16 MiB buffers", romio, Access::kIndependent, buffers(16)},
      {"ROMIO collective", romio, Access::kCollective},
      {"ROMIO collective, all aggregate", romio, Access::kCollective,
       fmt::format("romio_cb_read=enable,cb_nodes={0},cb_config_list=*:{0}", ranks)},
      {"OMPIO independent", ompio, Access::kIndependent},
      {"OMPIO collective", ompio, Access::kCollective},
  };
}

// Those that read the right bytes contend.
void add_stock(const Shared& machine, int ranks, const Operation& plain, Case& measured) {
  for (const StockMode& mode : modes_at(ranks)) {
    Operation mine = plain;
    mine.access = mode.access;
    mine.hints = mode.hints;
    const auto right = machine->pool->verify(mode.kind, false, mine);
    if (!right) {
      measured.note += fmt::format("{} is out: {}; ", mode.name, right.error().message());
      continue;
    }
    Contestant peer = stock_contestant(pool_of(machine), mode, plain);
    if (*right > kSlowNs) peer.rounds_max = 1;
    measured.peers.push_back(std::move(peer));
  }
}

// What one read of all tiles by ours asks of the file system, in words.
Result<std::string> requests_text(SlowMachine& machine, const JobKind& ours,
                                  const Operation& objects) {
  TESSERA_TRY(const SlowMount::Requests before, machine.mount->requests());
  TESSERA_TRY_VOID(machine.pool->measure(ours, false, objects, 1));
  TESSERA_TRY(const SlowMount::Requests after, machine.mount->requests());
  return fmt::format(
      "each request waits {} ms; of ours arrive {} that read {} MiB, opening included; the largest "
      "of anybody has {} KiB",
      SlowMount::kDelayUs / 1000, after.reads - before.reads,
      (after.bytes - before.bytes) / kMebibyte, after.largest_bytes / 1024);
}

Result<Case> make_case(const Shared& machine, int side, bool verify) {
  if (const auto mounted = mount_once(*machine); !mounted) {
    return left_out(mounted.error().message());
  }
  Operation plain = tile_read(Access::kIndependent, Timed::kTransfer);
  plain.slow = true;
  Operation objects = plain;
  objects.file = FileKind::kReplicated;
  if (!verify) objects.hints = "tessera_verify=off";
  const int ranks = side * side;
  const JobKind ours = tessera_at(ranks);
  TESSERA_TRY_VOID(put_tiles_in_one_place(*machine->pool, side, objects));
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.x = ranks;
  measured.x_label = "ranks";
  set_ours(pool_of(machine), "Tessera, object file", ours, objects, measured);
  TESSERA_TRY_VOID(put_compared_tiles_in_one_place(*machine->pool, side, objects, measured));
  add_stock(machine, ranks, plain, measured);
  Operation in_one_piece = plain;
  in_one_piece.access = Access::kPosix;
  measured.ceiling = {"pread in one piece", runner(pool_of(machine), ours, false, in_one_piece)};
  if (side == kSideHeld) measured.bars = {{Bar::Kind::kRatioAtLeast, kOfStock}};
  TESSERA_TRY(const std::string requests, requests_text(*machine, ours, objects));
  measured.note += requests;
  return measured;
}

}  // namespace

std::vector<CaseMaker> slow_cases() {
  const auto machine = std::make_shared<SlowMachine>();
  std::vector<CaseMaker> cases;
  for (const int side : {2, 4}) {
    for (const bool verify : {false, true}) {
      cases.push_back({fmt::format("slow file system: tile read {0}x{0}, the read, {1}", side,
                                   verify ? "verified" : "not verified"),
                       "object files: slow file system",
                       [=] { return make_case(machine, side, verify); }});
    }
  }
  return cases;
}

}  // namespace tessera::bench
