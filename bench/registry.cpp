#include "bench/bench.hpp"
#include "bench/index_bench.hpp"

namespace tessera::bench {

namespace {

std::vector<CaseMaker> pattern_cases() {
  std::vector<CaseMaker> cases;
  for (CaseMaker& index_case : index_cases()) cases.push_back(std::move(index_case));
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
