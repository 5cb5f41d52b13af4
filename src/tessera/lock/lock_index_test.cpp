// What every index promises, and what the compressed one does for claims of one stride.
#include "tessera/lock/lock_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "tessera/pattern/model_test_support.hpp"
#include "tessera/pattern/overlap.hpp"

namespace tessera::lock {
namespace {

using pattern::ByteSet;
using pattern::Pattern;
using pattern::model::Engine;
using pattern::model::uniform;

ByteSet strided(int64_t at, int64_t length, int64_t stride, int64_t count) {
  return ByteSet::of_ascending(
      pattern::repeat(Pattern::run({{at}}, length).value(), count, {{stride}}).value());
}

ByteSet run(int64_t begin, int64_t end) { return ByteSet::of({begin, end}).value(); }

struct Setting {
  const char* name;
  IndexKind kind;
  int64_t block_bytes;
};

class LockIndexTest : public ::testing::TestWithParam<Setting> {
 protected:
  // Blocks that hold a byte of the set.
  [[nodiscard]] std::set<int64_t> units(const ByteSet& bytes) const {
    const int64_t unit = GetParam().kind == IndexKind::kBlocks ? GetParam().block_bytes : 1;
    std::set<int64_t> result;
    for (const int64_t byte : pattern::model::bytes_of(bytes)) {
      result.insert(byte >= 0 ? byte / unit : -((-byte + unit - 1) / unit));
    }
    return result;
  }

  [[nodiscard]] static std::unique_ptr<LockIndex> make() {
    return make_index(GetParam().kind, GetParam().block_bytes);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, LockIndexTest,
                         ::testing::Values(Setting{"Patterns", IndexKind::kPatterns, 1},
                                           Setting{"Runs", IndexKind::kRuns, 1},
                                           Setting{"Bytes", IndexKind::kBlocks, 1},
                                           Setting{"Blocks", IndexKind::kBlocks, 8}),
                         [](const auto& setting) { return std::string(setting.param.name); });

struct Entry {
  Mode mode;
  std::set<int64_t> units;
};

bool meet(const std::set<int64_t>& a, const std::set<int64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](int64_t unit) { return b.contains(unit); });
}

TEST_P(LockIndexTest, I1FindsTheLatestConflict) {
  Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(60); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    const auto index = make();
    std::map<Ticket, Entry> model;
    Ticket next = 1;
    for (int step = 0; step < 60; ++step) {
      const Claim claim = {pattern::model::random_set(engine),
                           uniform(engine, 0, 1) == 0 ? Mode::kShared : Mode::kExclusive};
      const auto wanted = units(claim.bytes);
      const auto before = static_cast<Ticket>(uniform(engine, 1, static_cast<int64_t>(next)));
      std::optional<Ticket> expected;
      for (const auto& [ticket, entry] : model) {
        if (ticket < before && conflict(entry.mode, claim.mode) && meet(entry.units, wanted)) {
          expected = ticket;
        }
      }
      ASSERT_EQ(index->latest_conflict(claim, before), expected);
      if (uniform(engine, 0, 2) > 0) {
        index->insert(next, claim);
        model[next++] = {claim.mode, wanted};
      } else if (!model.empty()) {
        auto at = model.begin();
        std::advance(at, uniform(engine, 0, std::ssize(model) - 1));
        index->erase(at->first);
        model.erase(at);
      }
    }
  }
}

// Where one stride is a multiple of the other, or has nothing in common with it.
void tell_strides_apart(IndexKind kind) {
  const auto index = make_index(kind, 1);
  index->insert(1, {strided(0, 4, 16, 100), Mode::kExclusive});
  index->insert(2, {strided(4, 4, 32, 50), Mode::kExclusive});
  EXPECT_FALSE(index->latest_conflict({strided(8, 8, 16, 100), Mode::kExclusive}, 9));
  EXPECT_EQ(index->latest_conflict({strided(8, 9, 16, 100), Mode::kExclusive}, 9), 1);
  EXPECT_EQ(index->latest_conflict({strided(20, 4, 32, 50), Mode::kExclusive}, 9), std::nullopt);
  EXPECT_EQ(index->latest_conflict({strided(20, 4, 48, 30), Mode::kExclusive}, 9), 2);
  EXPECT_EQ(index->latest_conflict({run(1599, 5000), Mode::kExclusive}, 9), std::nullopt);
  EXPECT_EQ(index->latest_conflict({run(36, 37), Mode::kShared}, 9), 2);
  EXPECT_EQ(index->latest_conflict({run(36, 37), Mode::kShared}, 2), std::nullopt);
}

TEST(LockIndex, StridesThatDifferAreToldApart) {
  for (const IndexKind kind : {IndexKind::kPatterns, IndexKind::kRuns, IndexKind::kBlocks}) {
    tell_strides_apart(kind);
  }
}

// Who may not look longer says yes (I2): irregular claims that have no byte in common, of more runs
// than the budget.
TEST(PatternIndex, I2TooMuchWorkIsAConflict) {
  Engine engine(1);
  // All runs begin at the same remainder of 4, and are 2 long.
  const auto irregular = [&](int64_t begin, int run_count) {
    pattern::Assembler<1> runs;
    int64_t at = begin;
    for (int i = 0; i < run_count; ++i) {
      runs.append(Pattern::run({{at}}, 2).value());
      at += 4 + 4 * uniform(engine, 0, 3);
    }
    return ByteSet::of_ascending(runs.finish().value());
  };
  for (const auto& [run_count, expected] :
       {std::pair{1000, std::optional<Ticket>()}, {200'000, std::optional<Ticket>(1)}}) {
    const auto index = make_index(IndexKind::kPatterns);
    index->insert(1, {irregular(0, run_count), Mode::kExclusive});
    EXPECT_EQ(index->latest_conflict({irregular(2, run_count), Mode::kExclusive}, 2), expected);
  }
}

// A grant among many held locks of one stride does not look at the others.
TEST(PatternIndex, ManyLocksOfOneStrideCostLittle) {
  constexpr int64_t kLocks = 10'000;
  constexpr int64_t kStride = kLocks * 8;
  const auto index = make_index(IndexKind::kPatterns);
  for (int64_t i = 1; i < kLocks; ++i) {
    index->insert(static_cast<Ticket>(i),
                  {strided(i * 8, 8, kStride, 1'000'000), Mode::kExclusive});
  }
  const Claim last = {strided(0, 8, kStride, 1'000'000), Mode::kExclusive};
  const std::clock_t begin = std::clock();
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(index->latest_conflict(last, kLocks + 1));
  const auto each_us = static_cast<double>(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC / 1000;
  // A look at each of them would take some 100 us.
  EXPECT_LT(each_us, 30);
  EXPECT_LT(index->memory_bytes(), size_t{10} << 20);
}

}  // namespace
}  // namespace tessera::lock
