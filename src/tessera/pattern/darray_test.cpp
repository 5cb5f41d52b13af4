#include "tessera/pattern/darray.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/typemap_test_support.hpp"

namespace tessera::pattern {
namespace {

using base::Code;
using base::Result;
using model::Engine;
using model::Typemap;
using model::TypemapEntry;
using model::uniform;

Axis random_axis(Engine& engine) {
  Axis axis;
  axis.size = uniform(engine, 1, 7);
  axis.distribution = static_cast<Distribution>(uniform(engine, 0, 2));
  if (axis.distribution == Distribution::kNone) return axis;
  axis.processes = uniform(engine, 1, 3);
  if (uniform(engine, 0, 1) == 0) return axis;
  const int64_t least =
      axis.distribution == Distribution::kBlock ? base::ceil_div(axis.size, axis.processes) : 1;
  axis.argument = uniform(engine, least, least + 3);
  return axis;
}

// The place along an axis of the process that holds element i, by MPI's definition.
int64_t holder(const Axis& axis, int64_t i) {
  switch (axis.distribution) {
    case Distribution::kNone:
      return 0;
    case Distribution::kBlock: {
      const int64_t whole = (axis.size + axis.processes - 1) / axis.processes;
      return i / (axis.argument == kDefaultArg ? whole : axis.argument);
    }
    case Distribution::kCyclic:
      return i / (axis.argument == kDefaultArg ? 1 : axis.argument) % axis.processes;
  }
  return -1;
}

int64_t rank_holding(const std::vector<Axis>& axes, const std::vector<int64_t>& index) {
  int64_t rank = 0;
  for (size_t d = 0; d < axes.size(); ++d) {
    rank = rank * axes[d].processes + holder(axes[d], index[d]);
  }
  return rank;
}

TEST(Darray, HoldsWhatTheDistributionDeals) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(800); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    std::vector<Axis> axes(static_cast<size_t>(uniform(engine, 1, 4)));
    std::vector<int64_t> sizes;
    int64_t processes = 1;
    for (Axis& axis : axes) {
      axis = random_axis(engine);
      sizes.push_back(axis.size);
      processes *= axis.processes;
    }
    const Order order = uniform(engine, 0, 1) == 0 ? Order::kC : Order::kFortran;
    const int64_t size = uniform(engine, 1, 3);
    const Datatype element = resized(basic(size).value(), 0, size + uniform(engine, 0, 1)).value();
    Typemap map;
    map.entries = {{TypemapEntry::kBasic, 0, size, 1}};
    map.set_marks(0, element.extent);
    const int64_t rank = uniform(engine, 0, processes - 1);
    const auto mine = [&](const std::vector<int64_t>& index) {
      return rank_holding(axes, index) == rank;
    };
    model::expect_same(darray({processes, rank}, axes, order, element).value(),
                       model::array_part(sizes, order, map, mine));
    if (HasFailure()) return;
  }
}

TEST(Darray, CyclicIsARepetitionAndATail) {
  const std::vector<Axis> axes = {{1'000'003, Distribution::kCyclic, 4, 8}};
  const Datatype first = darray({8, 0}, axes, Order::kC, basic(8).value()).value();
  EXPECT_LE(first.bytes.shape().weight(), 3);
  const Datatype third = darray({8, 2}, axes, Order::kC, basic(8).value()).value();
  EXPECT_LE(third.bytes.shape().weight(), 3);
  EXPECT_EQ(first.extent, 8'000'024);
}

TEST(Darray, RankWithoutElementsHasTheWholeExtent) {
  const std::vector<Axis> axes = {{5, Distribution::kBlock, 3, 4}};
  const Datatype type = darray({4, 3}, axes, Order::kC, basic(4).value()).value();
  EXPECT_TRUE(type.bytes.empty());
  EXPECT_EQ(type.extent, 20);
  EXPECT_EQ(type.lower_bound, 0);
}

void expect_refused(const Result<Datatype>& result, const std::string& word) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::kInvalid);
  EXPECT_NE(result.error().message().find(word), std::string::npos) << result.error().message();
}

TEST(Darray, BadArgumentsAreNamed) {
  const Datatype element = basic(4).value();
  const auto refused = [&](Placement placement, const Axis& axis, const std::string& word) {
    const std::vector<Axis> axes = {axis};
    expect_refused(darray(placement, axes, Order::kC, element), word);
  };
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  refused({4, 4}, {8, Distribution::kBlock, kDefaultArg, 4}, "rank");
  refused({4, -1}, {8, Distribution::kBlock, kDefaultArg, 4}, "rank");
  refused({4, 0}, {8, Distribution::kBlock, kDefaultArg, 3}, "grid");
  refused({4, 0}, {8, Distribution::kBlock, kDefaultArg, 5}, "grid");
  refused({4, 0}, {8, Distribution::kBlock, kDefaultArg, 0}, "processes");
  refused({4, 0}, {8, Distribution::kBlock, 1, 4}, "cover");
  refused({4, 0}, {8, Distribution::kCyclic, 0, 4}, "not positive");
  refused({4, 0}, {8, Distribution::kCyclic, -7, 4}, "not positive");
  refused({4, 0}, {8, Distribution::kNone, kDefaultArg, 4}, "not distributed");
  refused({4, 0}, {0, Distribution::kBlock, kDefaultArg, 4}, "dimension 0");
  refused({1, 0}, {kHuge, Distribution::kCyclic, kHuge, 1}, "2^62");
  expect_refused(darray({1, 0}, {}, Order::kC, element), "no dimensions");
}

TEST(Darray, HugeArgumentsStayExact) {
  const int64_t size = int64_t{1} << 60;
  const std::vector<Axis> axes = {{size, Distribution::kCyclic, 3, int64_t{1} << 59}};
  const Datatype type = darray({int64_t{1} << 59, 5}, axes, Order::kC, basic(1).value()).value();
  EXPECT_EQ(type.size(), 3);
  EXPECT_EQ(type.true_bounds(), (Interval{15, 18}));
}

}  // namespace
}  // namespace tessera::pattern
