#include "bench/bench.hpp"
#include "bench/copy_bench.hpp"
#include "bench/index_bench.hpp"
#include "bench/join_bench.hpp"
#include "bench/overlap_bench.hpp"
#include "bench/wall_bench.hpp"

namespace tessera::bench {

namespace {

std::vector<CaseMaker> pattern_cases() {
  std::vector<CaseMaker> cases;
  for (const auto& make_group : {wall_cases, overlap_cases, join_cases, index_cases, copy_cases}) {
    for (CaseMaker& maker : make_group()) cases.push_back(std::move(maker));
  }
  return cases;
}

}  // namespace

const std::vector<Bench>& all_benches() {
  static const std::vector<Bench> benches = {
      {"pattern", "patterns and objects: encoding, overlap, join, object sets, index, copying",
       pattern_cases},
  };
  return benches;
}

}  // namespace tessera::bench
