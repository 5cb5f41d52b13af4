#include "bench/overlap_bench.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/expanded.hpp"
#include "tessera/pattern/overlap.hpp"

namespace tessera::bench {

namespace {

using pattern::ByteSet;
using pattern::Pattern;
using pattern::Point;

constexpr int64_t kRuns = 1'000'000;
constexpr double kUsMax = 2;

struct Runs {
  int64_t begin = 0;
  int64_t run_bytes = 0;
  int64_t stride_bytes = 0;
};

struct Pair {
  std::string name;
  Runs a;
  Runs b;
  bool overlaps = false;
};

// The coprime strides without overlap are much longer than the runs are many: shorter ones meet.
const Pair kPairs[] = {
    {"equal strides, apart", {0, 8, 64}, {32, 8, 64}, false},
    {"strides 96 and 160, apart", {0, 8, 96}, {16, 8, 160}, false},
    {"strides 96 and 160, they meet", {0, 8, 96}, {25, 8, 160}, true},
    {"strides 101 and 103, they meet early", {0, 8, 101}, {50, 8, 103}, true},
    {"long coprime strides, apart", {0, 8, 100'000'007}, {50'000'000, 8, 100'000'037}, false},
    {"long coprime strides, the last meet", {0, 8, 100'000'007}, {0, 8, 100'000'037}, true},
};

// Puts the last runs of both at the same place, for the pair in which only these meet.
Pair placed(Pair pair) {
  if (pair.a.begin == pair.b.begin) {
    pair.a.begin = (kRuns - 1) * (pair.b.stride_bytes - pair.a.stride_bytes);
  }
  return pair;
}

base::Result<ByteSet> set_of(const Runs& runs) {
  TESSERA_TRY(const Pattern run, Pattern::run(Point<1>{{runs.begin}}, runs.run_bytes));
  TESSERA_TRY(const Pattern all, pattern::repeat(run, kRuns, Point<1>{{runs.stride_bytes}}));
  return ByteSet::of(all);
}

struct Sets {
  ByteSet a;
  ByteSet b;
  RunVector a_list;
  RunVector b_list;
};

base::Result<std::shared_ptr<Sets>> make_sets(const Pair& pair) {
  auto sets = std::make_shared<Sets>();
  TESSERA_TRY(sets->a, set_of(pair.a));
  TESSERA_TRY(sets->b, set_of(pair.b));
  sets->a_list = expanded(sets->a.ascending());
  sets->b_list = expanded(sets->b.ascending());
  TESSERA_TRY(const bool ours, pattern::overlaps(sets->a, sets->b));
  if (ours == pair.overlaps && lists_overlap(sets->a_list, sets->b_list) == pair.overlaps) {
    return sets;
  }
  return base::fail(base::Code::kIntegrity,
                    fmt::format("expected {}, the test says {}, the lists say {}", pair.overlaps,
                                ours, lists_overlap(sets->a_list, sets->b_list)));
}

base::Result<Case> make_overlap(const Pair& pair) {
  TESSERA_TRY(const auto sets, make_sets(pair));
  Case measured;
  measured.unit = "us";
  measured.unit_ns = 1e3;
  measured.ours = timed_cpu("overlaps", [sets] {
    const auto answer = pattern::overlaps(sets->a, sets->b);
    keep(*answer);
  });
  measured.peers = {timed_cpu("walk of expanded lists",
                              [sets] { keep(lists_overlap(sets->a_list, sets->b_list)); })};
  measured.bars = {{Bar::Kind::kAtMost, kUsMax}};
  return measured;
}

}  // namespace

std::vector<CaseMaker> overlap_cases() {
  std::vector<CaseMaker> cases;
  for (const Pair& pair : kPairs) {
    cases.push_back({"overlap, " + pair.name, "Overlap test of two patterns of 1,000,000 runs each",
                     [pair] { return make_overlap(placed(pair)); }});
  }
  return cases;
}

}  // namespace tessera::bench
