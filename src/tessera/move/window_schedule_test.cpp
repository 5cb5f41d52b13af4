#include "tessera/move/window_schedule.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tessera/move/test_moves.hpp"

namespace tessera::move {
namespace {

using model::Chance;
using pattern::model::rounds;
using pattern::model::seed;
using pattern::model::seed_note;
using pattern::model::uniform;

// All rounds, from as many schedules as it takes.
std::vector<Round> whole_schedule(const std::vector<Pattern>& files, int64_t cell) {
  std::vector<Round> all;
  std::vector<int64_t> streams(files.size(), 0);
  for (bool complete = false; !complete;) {
    std::vector<CellList> lists;
    for (size_t rank = 0; rank < files.size(); ++rank) {
      lists.push_back(list_cells(files[rank], cell, streams[rank]));
    }
    const Schedule schedule = merge_lists(lists, cell);
    EXPECT_LE(std::ssize(schedule.rounds), kListedCells);
    EXPECT_TRUE(schedule.complete || !schedule.rounds.empty());
    complete = schedule.complete;
    all.insert(all.end(), schedule.rounds.begin(), schedule.rounds.end());
    for (size_t rank = 0; rank < files.size() && !schedule.rounds.empty(); ++rank) {
      streams[rank] =
          files[rank].empty() ? 0 : files[rank].offset_of(schedule.rounds.back().file.end);
    }
  }
  return all;
}

// What the bytes of all ranks say about one cell.
struct Expected {
  Interval file = {pattern::kMaxPosition, 0};
  int64_t bytes = 0;
  std::map<size_t, int64_t> by_rank;
};

std::map<int64_t, Expected> expected_cells(const std::vector<Pattern>& files, int64_t cell) {
  std::map<int64_t, Expected> cells;
  for (size_t rank = 0; rank < files.size(); ++rank) {
    for (const auto& place : pattern::model::positions(files[rank])) {
      Expected& expected = cells[place[0] / cell];
      expected.file.begin = std::min(expected.file.begin, place[0]);
      expected.file.end = std::max(expected.file.end, place[0] + 1);
      ++expected.bytes;
      ++expected.by_rank[rank];
    }
  }
  return cells;
}

// (S1)
TEST(WindowSchedule, RoundsHoldEveryByteOnce) {
  Chance chance(seed());
  for (int round = 0; round < rounds(1000); ++round) {
    std::vector<Pattern> files;
    for (int64_t rank = uniform(chance, 1, 4); rank > 0; --rank) {
      files.push_back(model::random_file(chance, uniform(chance, 10, 600)));
    }
    const int64_t cell = uniform(chance, 1, 40);
    const auto expected = expected_cells(files, cell);
    const std::vector<Round> all = whole_schedule(files, cell);
    ASSERT_EQ(all.size(), expected.size()) << seed_note(round);
    size_t i = 0;
    for (const auto& entry : expected) {
      const auto& one = entry.second;
      ASSERT_EQ(all[i].file, one.file) << seed_note(round);
      ASSERT_EQ(all[i].bytes, one.bytes) << seed_note(round);
      const bool one_has_all =
          std::any_of(one.by_rank.begin(), one.by_rank.end(),
                      [&one](const auto& rank) { return rank.second == one.file.length(); });
      ASSERT_EQ(all[i].one_has_all, one_has_all) << seed_note(round);
      ++i;
    }
  }
}

TEST(WindowSchedule, ListsAreBoundedAndGoOnWhereTheyEnded) {
  const Pattern file =
      pattern::repeat(Pattern::run({{5}}, 1).value(), kListedCells + 3, {{100}}).value();
  const CellList first = list_cells(file, 10, 0);
  EXPECT_EQ(std::ssize(first.parts), kListedCells);
  EXPECT_FALSE(first.complete);
  const CellList second = list_cells(file, 10, kListedCells);
  ASSERT_EQ(second.parts.size(), 3U);
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.parts[0].begin, 5 + 100 * kListedCells);
  EXPECT_EQ(second.parts[0].stream, kListedCells);
}

TEST(WindowSchedule, PositionsMayReachAsFarAsPatternsDo) {
  const Pattern file = Pattern::run({{pattern::kMaxPosition - 3}}, 3).value();
  const CellList list = list_cells(file, 1000, 0);
  ASSERT_EQ(list.parts.size(), 1U);
  EXPECT_EQ(list.parts[0].end, pattern::kMaxPosition);
  EXPECT_EQ(list.parts[0].bytes, 3);
}

}  // namespace
}  // namespace tessera::move
