#include "tessera/object/midpoint_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

namespace tessera::object {
namespace {

using pattern::Interval;

uint64_t test_seed() {
  const char* given = std::getenv("TESSERA_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20090717;
}

// The objects of paper 0's Figure 2 on its line of 80 units. The text gives the first four whole
// and that the fifth begins at 30 and holds 39 and the root's position; where it ends is only in
// the drawing, so the test takes every end that the text allows.
MidpointTree figure_2(int64_t fifth_end) {
  MidpointTree tree({0, 80});
  tree.insert({0, 10}, 0);
  tree.insert({10, 15}, 1);
  tree.insert({15, 26}, 2);
  tree.insert({26, 30}, 3);
  tree.insert({30, fifth_end}, 4);
  if (fifth_end < 80) tree.insert({fifth_end, 80}, 5);
  return tree;
}

TEST(MidpointTree, PaperFigure3Places) {
  for (int64_t fifth_end = 40; fifth_end <= 80; ++fifth_end) {
    const MidpointTree tree = figure_2(fifth_end);
    EXPECT_EQ(tree.position_of(4), 39);
    EXPECT_EQ(tree.position_of(2), 19);
    EXPECT_EQ(tree.position_of(0), 9);
    EXPECT_EQ(tree.position_of(1), 14);
    EXPECT_EQ(tree.position_of(3), 29);
  }
}

// "all of the objects that contain the interval {18,35}": both ends belong to it.
TEST(MidpointTree, PaperFigure3Search) {
  for (int64_t fifth_end = 40; fifth_end <= 80; ++fifth_end) {
    const MidpointTree tree = figure_2(fifth_end);
    EXPECT_EQ(tree.meeting(18, 36), (std::vector<int64_t>{2, 3, 4}));
    std::vector<int64_t> order;
    tree.visit(18, 36, [&order](int64_t id, const Interval&) { order.push_back(id); });
    EXPECT_EQ(order, (std::vector<int64_t>{4, 2, 3})) << "the order in which the paper finds them";
  }
}

TEST(MidpointTree, LastByteOfTheRangeHasAPlace) {
  MidpointTree tree({0, 80});
  tree.insert({79, 80}, 7);
  EXPECT_EQ(tree.position_of(7), 79);
  EXPECT_EQ(tree.meeting(79, 80), std::vector<int64_t>{7});
  EXPECT_TRUE(tree.meeting(0, 79).empty());
}

TEST(MidpointTree, DepthIsBoundedByTheBitsOfTheRange) {
  MidpointTree tree({0, int64_t{1} << 40});
  for (int64_t i = 0; i < 40; ++i) tree.insert({int64_t{1} << i, (int64_t{1} << i) + 1}, i);
  EXPECT_LE(tree.depth(), 41);
  EXPECT_GT(tree.depth(), 20) << "exponentially spaced objects are the paper's bad case";
}

TEST(MidpointTreeModel, AgreesWithScan) {
  SCOPED_TRACE(testing::Message() << "TESSERA_SEED=" << test_seed());
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 60; ++trial) {
    MidpointTree tree({-20, 47});
    std::vector<Interval> intervals;
    for (int64_t at = -20; at < 40;) {
      const int64_t begin = at + static_cast<int64_t>(random() % 4);
      at = begin + 1 + static_cast<int64_t>(random() % 4);
      intervals.push_back({begin, at});
    }
    std::vector<size_t> order(intervals.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) tree.insert(intervals[i], static_cast<int64_t>(i));
    for (int64_t a = -22; a < 46; ++a) {
      for (int64_t b = a - 1; b < 48; ++b) {
        std::vector<int64_t> expected;
        for (size_t i = 0; i < intervals.size() && a < b; ++i) {
          if (intervals[i].meets({a, b})) expected.push_back(static_cast<int64_t>(i));
        }
        ASSERT_EQ(tree.meeting(a, b), expected) << "trial " << trial << " " << a << " " << b;
      }
    }
  }
}

TEST(MidpointTreeDeathTest, RefusesOverlap) {
  MidpointTree tree({0, 80});
  tree.insert({30, 50}, 0);
  EXPECT_DEATH(tree.insert({39, 40}, 1), "assertion failed");
}

}  // namespace
}  // namespace tessera::object
