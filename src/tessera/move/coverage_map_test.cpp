#include "tessera/move/coverage_map.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tessera/pattern/model_test_support.hpp"

namespace tessera::move {
namespace {

using pattern::model::rounds;
using pattern::model::seed;
using pattern::model::seed_note;
using pattern::model::uniform;
using Chance = pattern::model::Engine;

constexpr int64_t kWindow = 200;

// The runs of one value, found by looking at every bit.
std::vector<Interval> runs_of(const std::vector<bool>& bits, bool value) {
  std::vector<Interval> runs;
  for (int64_t at = 0; at < std::ssize(bits); ++at) {
    if (bits[static_cast<size_t>(at)] != value) continue;
    if (runs.empty() || runs.back().end != at) runs.push_back({at, at});
    runs.back().end = at + 1;
  }
  return runs;
}

template <typename Next>
std::vector<Interval> walk(int64_t length, const Next& next) {
  std::vector<Interval> runs;
  for (int64_t at = 0; at < length;) {
    const Interval run = next(Interval{at, length});
    if (!run.empty()) runs.push_back(run);
    at = run.end;
  }
  return runs;
}

TEST(CoverageMap, HoldsWhatWasMarked) {
  Chance chance(seed());
  std::vector<std::byte> memory(static_cast<size_t>(CoverageMap::memory_bytes(kWindow)));
  CoverageMap map(memory);
  for (int round = 0; round < rounds(3000); ++round) {
    map.clear();
    std::vector<bool> expected(static_cast<size_t>(kWindow));
    const int64_t begin = uniform(chance, 0, 1000);
    for (int64_t i = uniform(chance, 0, 3); i > 0; --i) {
      const int depth = static_cast<int>(uniform(chance, 0, 3));
      const Pattern marked = pattern::model::random_ascending(chance, depth)
                                 .shifted({{begin + uniform(chance, 0, kWindow)}})
                                 .value()
                                 .within({begin, begin + kWindow});
      const int64_t first = uniform(chance, 0, marked.size());
      const Interval stream = {first, uniform(chance, first, marked.size())};
      map.mark(marked, stream, begin);
      for (const auto& place : pattern::model::positions(marked.clip(stream))) {
        expected[static_cast<size_t>(place[0] - begin)] = true;
      }
    }
    const int64_t length = uniform(chance, 1, kWindow);
    expected.resize(static_cast<size_t>(length));
    ASSERT_EQ(walk(length, [&map](Interval within) { return map.next_marked(within); }),
              runs_of(expected, true))
        << seed_note(round);
    ASSERT_EQ(walk(length, [&map](Interval within) { return map.next_unmarked(within); }),
              runs_of(expected, false))
        << seed_note(round);
  }
}

TEST(CoverageMap, AlignedRunsOfEightBytesAreMarkedWhole) {
  std::vector<std::byte> memory(static_cast<size_t>(CoverageMap::memory_bytes(kWindow)));
  CoverageMap map(memory);
  const Pattern run = Pattern::run({{40}}, 8).value();
  map.mark(pattern::repeat(run, 4, {{24}}).value(), {0, 32}, 32);
  EXPECT_EQ(map.next_marked({0, kWindow}), (Interval{8, 16}));
  EXPECT_EQ(map.next_marked({16, kWindow}), (Interval{32, 40}));
  EXPECT_EQ(map.next_marked({60, kWindow}), (Interval{60, 64}));
  EXPECT_EQ(map.next_marked({88, kWindow}), (Interval{kWindow, kWindow}));
}

}  // namespace
}  // namespace tessera::move
