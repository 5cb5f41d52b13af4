#include "tessera/object/flat_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

namespace tessera::object {
namespace {

using pattern::Interval;
using Instructions = FlatIndex::Instructions;

constexpr Instructions kAllInstructions[] = {Instructions::kBest, Instructions::kAvx512,
                                             Instructions::kAvx2, Instructions::kPortable};

uint64_t test_seed() {
  const char* given = std::getenv("TESSERA_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20090717;
}

std::vector<Interval> random_intervals(std::mt19937_64& random, int64_t count, int64_t gap_max) {
  std::vector<Interval> intervals;
  int64_t at = -std::uniform_int_distribution<int64_t>(0, 2 * count)(random);
  for (int64_t i = 0; i < count; ++i) {
    at += std::uniform_int_distribution<int64_t>(0, gap_max)(random);
    const int64_t begin = at;
    at += std::uniform_int_distribution<int64_t>(1, 3)(random);
    intervals.push_back({begin, at});
  }
  return intervals;
}

// The oracle: looks at every interval.
IndexRange meeting_by_scan(const std::vector<Interval>& intervals, int64_t a, int64_t b) {
  int64_t first = 0;
  const auto size = static_cast<int64_t>(intervals.size());
  while (first < size && intervals[static_cast<size_t>(first)].end <= a) ++first;
  int64_t last = first;
  while (last < size && intervals[static_cast<size_t>(last)].begin < b) ++last;
  return {first, last};
}

TEST(FlatIndex, EmptyMeetsNothing) {
  const FlatIndex none;
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.first_meeting(0), 0);
  EXPECT_EQ(none.meeting(INT64_MIN, INT64_MAX), (IndexRange{0, 0}));
  const FlatIndex made_empty{std::vector<Interval>{}};
  EXPECT_EQ(made_empty.first_meeting(INT64_MIN), 0);
}

TEST(FlatIndex, EndsOfTheNumberLine) {
  const std::vector<Interval> whole = {{INT64_MIN, -1}, {-1, INT64_MAX}};
  for (const Instructions instructions : kAllInstructions) {
    const FlatIndex index(whole, {}, instructions);
    EXPECT_EQ(index.first_meeting(INT64_MIN), 0);
    EXPECT_EQ(index.first_meeting(-2), 0);
    EXPECT_EQ(index.first_meeting(-1), 1);
    EXPECT_EQ(index.first_meeting(INT64_MAX - 1), 1);
    EXPECT_EQ(index.first_meeting(INT64_MAX), 2);
    EXPECT_EQ(index.meeting(INT64_MIN, INT64_MAX), (IndexRange{0, 2}));
  }
}

TEST(FlatIndex, EmptyQueryMeetsNothing) {
  const FlatIndex index(std::vector<Interval>{{0, 10}});
  EXPECT_EQ(index.meeting(5, 5), (IndexRange{0, 0}));
  EXPECT_EQ(index.meeting(6, 4), (IndexRange{0, 0}));
}

TEST(FlatIndex, RemembersItsIntervals) {
  std::mt19937_64 random(test_seed());
  const auto intervals = random_intervals(random, 1000, 2);
  const FlatIndex index(intervals);
  ASSERT_EQ(index.size(), 1000);
  for (size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_EQ(index[static_cast<int64_t>(i)], intervals[i]);
  }
}

// Every size around the places where a node or a level fills up, every query of a small universe.
TEST(FlatIndexModel, AgreesWithScan) {
  SCOPED_TRACE(testing::Message() << "TESSERA_SEED=" << test_seed());
  std::mt19937_64 random(test_seed());
  for (const int64_t size : {1, 2, 15, 16, 17, 31, 32, 33, 271, 272, 273, 289, 300}) {
    const auto intervals = random_intervals(random, size, size % 2 == 0 ? 2 : 0);
    for (const Instructions instructions : kAllInstructions) {
      const FlatIndex index(intervals, {}, instructions);
      for (int64_t a = intervals.front().begin - 2; a <= intervals.back().end + 2; ++a) {
        for (const int64_t width : {1, 2, 7, 40, 200}) {
          ASSERT_EQ(index.meeting(a, a + width), meeting_by_scan(intervals, a, a + width))
              << "size " << size << " query " << a << " width " << width;
        }
      }
    }
  }
}

// Three and four levels: 16 * 17 * 17 = 4,624 intervals fill three.
TEST(FlatIndexModel, DeepTreesAgreeWithBinarySearch) {
  SCOPED_TRACE(testing::Message() << "TESSERA_SEED=" << test_seed());
  std::mt19937_64 random(test_seed());
  for (const int64_t size : {4623, 4624, 4625, 78608, 78609, 100'003}) {
    const auto intervals = random_intervals(random, size, 3);
    for (const Instructions instructions : kAllInstructions) {
      const FlatIndex index(intervals, {}, instructions);
      std::uniform_int_distribution<int64_t> any(intervals.front().begin - 5,
                                                 intervals.back().end + 5);
      for (int i = 0; i < 5000; ++i) {
        const int64_t a = any(random);
        const auto found = std::upper_bound(
            intervals.begin(), intervals.end(), a,
            [](int64_t value, const Interval& interval) { return value < interval.end; });
        ASSERT_EQ(index.first_meeting(a), found - intervals.begin()) << size << " " << a;
      }
    }
  }
}

TEST(FlatIndex, RemembersItsValues) {
  std::mt19937_64 random(test_seed());
  const auto intervals = random_intervals(random, 70'000, 2);
  std::vector<int32_t> values;
  for (size_t i = 0; i < intervals.size(); ++i) values.push_back(static_cast<int32_t>(random()));
  const FlatIndex index(intervals, values);
  const FlatIndex plain(intervals);
  for (size_t i = 0; i < intervals.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    ASSERT_EQ(index.value(at), values[i]);
    ASSERT_EQ(index[at], intervals[i]);
    ASSERT_EQ(plain.value(at), 0);
  }
}

TEST(FlatIndex, StaysSmall) {
  std::mt19937_64 random(test_seed());
  const FlatIndex index(random_intervals(random, 100'000, 2));
  const int64_t payload = 2 * sizeof(int64_t) + sizeof(int32_t);
  EXPECT_LE(index.memory_bytes(), 100'000 * (payload + 1));
}

TEST(FlatIndexDeathTest, RefusesOverlapAndDisorder) {
  EXPECT_DEATH(FlatIndex(std::vector<Interval>{{0, 5}, {4, 6}}), "assertion failed");
  EXPECT_DEATH(FlatIndex(std::vector<Interval>{{5, 6}, {0, 1}}), "assertion failed");
  EXPECT_DEATH(FlatIndex(std::vector<Interval>{{5, 5}}), "assertion failed");
}

}  // namespace
}  // namespace tessera::object
