#include "tessera/map/run_table.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tessera/pattern/model_test_support.hpp"

namespace tessera::map {
namespace {

using pattern::model::Engine;
using pattern::model::uniform;

using Model = std::map<int64_t, MappedRun>;  // by begin

std::vector<MappedRun> runs_of(const RunTable& table) {
  std::vector<MappedRun> runs;
  for (auto at = table.first(); !table.is_end(at); at = table.next(at)) runs.push_back(table[at]);
  return runs;
}

std::vector<MappedRun> runs_of(const Model& model) {
  std::vector<MappedRun> runs;
  for (const auto& [begin, run] : model) runs.push_back(run);
  return runs;
}

bool meets(const Model& model, const MappedRun& run) {
  const auto after = model.lower_bound(run.end());
  return after != model.begin() && std::prev(after)->second.end() > run.begin;
}

void insert(Model& model, MappedRun run) {
  if (const auto next = model.find(run.end());
      next != model.end() && run.continued_by(next->second)) {
    run.length += next->second.length;
    model.erase(next);
  }
  const auto after = model.lower_bound(run.begin);
  if (after != model.begin() && std::prev(after)->second.continued_by(run)) {
    std::prev(after)->second.length += run.length;
  } else {
    model[run.begin] = run;
  }
}

void expect_search(const RunTable& table, const Model& model, int64_t byte) {
  auto expected = model.upper_bound(byte);
  if (expected != model.begin() && std::prev(expected)->second.end() > byte) --expected;
  const RunTable::Position at = table.first_ending_after(byte);
  ASSERT_EQ(table.is_end(at), expected == model.end());
  if (!table.is_end(at)) {
    EXPECT_EQ(table[at], expected->second);
  }
}

// Enough runs for many chunks; phases of growth and of decline, so that chunks split and merge.
TEST(RunTable, IsAMapOfRuns) {
  Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(4); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    constexpr int64_t kBytes = 20'000;
    RunTable table;
    Model model;
    for (int step = 0; step < 12'000; ++step) {
      const bool declines = step % 4000 > 2500;
      const int64_t begin = uniform(engine, 0, kBytes);
      if (uniform(engine, 0, 9) < (declines ? 8 : 1) && !model.empty()) {
        auto gone = model.lower_bound(begin);
        if (gone == model.end()) gone = model.begin();
        table.erase(gone->first);
        model.erase(gone);
      } else {
        // Places follow the file, so that neighbours often continue each other.
        const MappedRun run = {begin, uniform(engine, 1, 4), begin + 7, 1,
                               static_cast<AllocationId>(uniform(engine, 0, 1))};
        if (meets(model, run)) continue;
        table.insert(run);
        insert(model, run);
      }
      expect_search(table, model, uniform(engine, -2, kBytes + 10));
      ASSERT_EQ(table.size(), static_cast<int64_t>(model.size()));
      if (step % 1000 == 0) {
        ASSERT_EQ(runs_of(table), runs_of(model));
        ASSERT_EQ(runs_of(RunTable(runs_of(model))), runs_of(model));
      }
    }
    ASSERT_EQ(runs_of(table), runs_of(model));
    EXPECT_EQ(table.end(), model.empty() ? 0 : model.rbegin()->second.end());
  }
}

TEST(RunTable, GivesMemoryBack) {
  RunTable table;
  for (int64_t i = 0; i < 100'000; ++i) table.insert({2 * i, 1, 0, 1, 0});
  const int64_t full_bytes = table.memory_bytes();
  for (int64_t i = 0; i < 100'000; ++i) {
    if (i % 1000 != 0) table.erase(2 * i);
  }
  EXPECT_EQ(table.size(), 100);
  EXPECT_LT(table.memory_bytes(), full_bytes / 20);
}

}  // namespace
}  // namespace tessera::map
