#include "bench/join_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/expanded.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/object/tile_wall.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::bench {

namespace {

using pattern::Join;
using pattern::Pattern;
using pattern::Point;

// Fewer rows than bytes in a run of the other side, and that a prime: no common period of the two
// fits into the stream, so nothing but the rows can be taken apart.
constexpr int64_t kFewRows = 400;
constexpr int64_t kOtherRunBytes = 1009;
constexpr int64_t kTileRowBytes = 7680;
constexpr int64_t kWallRowBytes = 66720;

struct Strided {
  int64_t run_bytes = 0;
  int64_t stride_bytes = 0;
  int64_t count = 0;
};

base::Result<Pattern> strided(const Strided& runs) {
  TESSERA_TRY(const Pattern run, Pattern::run(Point<1>{{0}}, runs.run_bytes));
  return pattern::repeat(run, runs.count, Point<1>{{runs.stride_bytes}});
}

Strided wide_rows(int64_t scale) {
  return {scale * kTileRowBytes, scale * kWallRowBytes, kFewRows};
}

// Runs of run_bytes with gaps as long, cut to exactly size_bytes.
base::Result<Pattern> striped(int64_t run_bytes, int64_t size_bytes) {
  const int64_t count = base::ceil_div(size_bytes, run_bytes);
  TESSERA_TRY(const Pattern whole, strided({run_bytes, 2 * run_bytes, count}));
  return whole.clip({0, size_bytes});
}

// The two sides of a join, compressed and expanded.
struct Sides {
  Pattern p;
  Pattern q;
  RunVector p_list;
  RunVector q_list;
  std::vector<JoinedRun> pieces;  // of the peer; kept so that it does not allocate each time
};

base::Result<void> check_pieces(const Join& ours, const std::vector<JoinedRun>& theirs) {
  constexpr size_t kCheckedMax = 300'000;
  if (theirs.size() > kCheckedMax) return {};
  const auto pieces = pattern::expand(ours);
  const bool same = std::equal(pieces.begin(), pieces.end(), theirs.begin(), theirs.end(),
                               [](const auto& a, const JoinedRun& b) {
                                 return a.at[0] == b.p && a.at[1] == b.q && a.length == b.length;
                               });
  if (same) return {};
  return base::fail(base::Code::kIntegrity, "the join differs from the walk over both lists");
}

base::Result<std::shared_ptr<Sides>> make_sides(const Strided& rows, int64_t other_run_bytes) {
  auto sides = std::make_shared<Sides>();
  TESSERA_TRY(sides->p, strided(rows));
  TESSERA_TRY(sides->q, striped(other_run_bytes, sides->p.size()));
  sides->p_list = expanded(sides->p);
  sides->q_list = expanded(sides->q);
  join_lists(sides->p_list, sides->q_list, sides->pieces);
  TESSERA_TRY(const Join joined, pattern::join(sides->p, sides->q));
  TESSERA_TRY_VOID(check_pieces(joined, sides->pieces));
  return sides;
}

void join_compressed(const Sides& sides) {
  const auto joined = pattern::join(sides.p, sides.q);
  TESSERA_ASSERT(joined.has_value());
  keep(joined->size());
}

void join_expanded(Sides& sides) {
  sides.pieces.clear();
  join_lists(sides.p_list, sides.q_list, sides.pieces);
  keep(sides.pieces.data());
}

struct Sweep {
  Strided rows;
  int64_t other_run_bytes = 0;
  double x = 0;
  std::string x_label;
};

base::Result<Case> make_join(const Sweep& sweep) {
  TESSERA_TRY(const auto sides, make_sides(sweep.rows, sweep.other_run_bytes));
  Case measured;
  measured.unit = "us";
  measured.unit_ns = 1e3;
  measured.x = sweep.x;
  measured.x_label = sweep.x_label;
  measured.ours = timed_cpu("join", [sides] { join_compressed(*sides); });
  measured.peers = {timed_cpu("walk of expanded lists", [sides] { join_expanded(*sides); })};
  measured.note = fmt::format("{} rows, {} bytes, {} runs on the other side", sides->p.runs(),
                              sides->p.size(), sides->q.runs());
  return measured;
}

// How many times longer the second takes than the first; the shortest of several trials of each.
template <typename Work>
double growth(const Work& work, const std::shared_ptr<Sides>& few,
              const std::shared_ptr<Sides>& many) {
  const auto shortest = [&work](Sides& sides) {
    double best = HUGE_VAL;
    for (int trial = 0; trial < 15; ++trial) {
      const double start = cpu_ns();
      work(sides);
      best = std::min(best, cpu_ns() - start);
    }
    return best;
  };
  return shortest(*many) / shortest(*few);
}

base::Result<Case> make_growth() {
  TESSERA_TRY(const auto few, make_sides(wide_rows(1), kOtherRunBytes));
  TESSERA_TRY(const auto many, make_sides(wide_rows(100), kOtherRunBytes));
  Case measured;
  measured.unit = "times";
  measured.kind = Kind::kSize;
  measured.ours = {"join", [few, many](int64_t) -> base::Result<double> {
                     return growth([](Sides& sides) { join_compressed(sides); }, few, many);
                   }};
  measured.peers = {{"walk of expanded lists", [few, many](int64_t) -> base::Result<double> {
                       return growth([](Sides& sides) { join_expanded(sides); }, few, many);
                     }}};
  measured.bars = {{Bar::Kind::kAtMost, 2.0}};
  measured.note =
      fmt::format("{} rows; bytes from {} to {}, runs of the other side from {} to {}",
                  few->p.runs(), few->p.size(), many->p.size(), few->q.runs(), many->q.runs());
  return measured;
}

// A view looked up in a file map: the file's bytes dealt out in stripes to four allocations.
struct Lookup {
  Join view;  // (file, buffer)
  Join map;   // (file, first allocation)
  RunVector rows;
  std::vector<JoinedRun> stripes;  // p in the file, q in the allocation
  std::vector<JoinedRun> pieces;   // p in the buffer, q in the allocation
};

constexpr int64_t kAllocations = 4;

// For every row, the stripes that meet it, found by binary search.
void look_up_expanded(Lookup& lookup) {
  lookup.pieces.clear();
  int64_t buffer = 0;
  for (const pattern::Run& row : lookup.rows) {
    auto stripe = std::upper_bound(
        lookup.stripes.begin(), lookup.stripes.end(), row.begin,
        [](int64_t at, const JoinedRun& candidate) { return at < candidate.p + candidate.length; });
    for (; stripe != lookup.stripes.end() && stripe->p < row.begin + row.length; ++stripe) {
      const int64_t begin = std::max(row.begin, stripe->p);
      const int64_t end = std::min(row.begin + row.length, stripe->p + stripe->length);
      lookup.pieces.push_back(
          {buffer + begin - row.begin, stripe->q + begin - stripe->p, end - begin});
    }
    buffer += row.length;
  }
  keep(lookup.pieces.data());
}

base::Result<std::shared_ptr<Lookup>> make_lookup(int64_t stripe_bytes) {
  const object::Wall& wall = object::kPaperWall;
  auto lookup = std::make_shared<Lookup>();
  const Pattern tile = object::reader_view(wall, 44).ascending();
  TESSERA_TRY(const Pattern buffer, Pattern::run(Point<1>{{0}}, tile.size()));
  TESSERA_TRY(lookup->view, pattern::join(tile, buffer));
  const int64_t period = kAllocations * stripe_bytes;
  const int64_t count = base::ceil_div(wall.file_bytes(), period);
  TESSERA_TRY(const Join stripe, Join::run(Point<2>{{0, 0}}, stripe_bytes));
  TESSERA_TRY(lookup->map, pattern::repeat(stripe, count, Point<2>{{period, stripe_bytes}}));
  lookup->rows = expanded(tile);
  for (int64_t i = 0; i < count; ++i) {
    lookup->stripes.push_back({i * period, i * stripe_bytes, stripe_bytes});
  }
  look_up_expanded(*lookup);
  TESSERA_TRY(const Join found, pattern::match(lookup->view, lookup->map));
  TESSERA_TRY_VOID(check_pieces(found, lookup->pieces));
  return lookup;
}

base::Result<Case> make_lookup_case(int64_t stripe_bytes) {
  TESSERA_TRY(const auto lookup, make_lookup(stripe_bytes));
  Case measured;
  measured.unit = "us";
  measured.unit_ns = 1e3;
  measured.x = static_cast<double>(lookup->stripes.size());
  measured.x_label = "runs of the map";
  measured.ours = timed_cpu("match", [lookup] {
    const auto found = pattern::match(lookup->view, lookup->map);
    TESSERA_ASSERT(found.has_value());
    keep(found->size());
  });
  measured.peers = {timed_cpu("search in expanded list", [lookup] { look_up_expanded(*lookup); })};
  measured.note =
      fmt::format("stripes of {} bytes over {} allocations", stripe_bytes, kAllocations);
  return measured;
}

void add_sweep(std::vector<CaseMaker>& cases, const std::string& group, const std::string& name,
               const Sweep& sweep) {
  cases.push_back({name, group, [sweep] { return make_join(sweep); }});
}

}  // namespace

std::vector<CaseMaker> join_cases() {
  std::vector<CaseMaker> cases;
  for (const int64_t rows : {100, 400, 1650, 6600, 26400}) {
    add_sweep(cases, "Join: more rows of the tile", fmt::format("join, {} rows", rows),
              {{kTileRowBytes, kWallRowBytes, rows}, 4099, static_cast<double>(rows), "rows"});
  }
  for (const int64_t scale : {1, 10, 100, 1000}) {
    const int64_t bytes = kFewRows * scale * kTileRowBytes;
    const int64_t runs = base::ceil_div(bytes, kOtherRunBytes);
    add_sweep(
        cases, "Join: more runs on the other side, same rows",
        fmt::format("join, other side of {} runs", runs),
        {wide_rows(scale), kOtherRunBytes, static_cast<double>(runs), "runs of the other side"});
    add_sweep(cases, "Join: more bytes, same rows and runs", fmt::format("join, {} bytes", bytes),
              {wide_rows(scale), scale * kOtherRunBytes, static_cast<double>(bytes),
               "bytes of the tile"});
  }
  cases.push_back({"join, growth with 100x bytes and runs",
                   "Join: growth of time when bytes and runs grow 100 times, rows do not",
                   make_growth});
  for (const int64_t stripe : {65536, 8192, 1024, 128}) {
    cases.push_back({fmt::format("lookup, map in stripes of {} B", stripe),
                     "Join: a tile view looked up in a striped file map",
                     [stripe] { return make_lookup_case(stripe); }});
  }
  return cases;
}

}  // namespace tessera::bench
