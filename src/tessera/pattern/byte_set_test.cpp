#include "tessera/pattern/byte_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "tessera/pattern/line.hpp"
#include "tessera/pattern/model_test_support.hpp"

namespace tessera::pattern {
namespace {

using model::bytes_of;
using model::Engine;
using model::uniform;

ByteSet strided(int64_t begin, int64_t length, int64_t stride, int64_t count) {
  const Pattern run = Pattern::run({{begin}}, length).value();
  return ByteSet::of_ascending(repeat(run, count, {{stride}}).value());
}

constexpr int64_t kMillion = 1000000;

TEST(ByteSet, InterleavedStripesUniteToOneRun) {
  const ByteSet both = unite(strided(0, 8, 16, kMillion), strided(8, 8, 16, kMillion)).value();
  EXPECT_EQ(both.runs(), 1);
  EXPECT_EQ(both.size(), 16 * kMillion);
}

TEST(ByteSet, RegularResultsStayCompressed) {
  const ByteSet a = strided(0, 10, 100, kMillion);
  const ByteSet b = strided(5, 10, 50, 2 * kMillion);
  for (const auto& result : {intersect(a, b), unite(a, b), subtract(a, b), subtract(b, a)}) {
    ASSERT_TRUE(result);
    EXPECT_LT(result->ascending().shape().weight(), 40);
    result->ascending().check_invariants();
  }
  EXPECT_EQ(intersect(a, b)->size(), 5 * kMillion);
  EXPECT_EQ(unite(a, b)->size(), 10 * kMillion + 20 * kMillion - 5 * kMillion);
}

TEST(ByteSet, IncommensurateStridesAreRefusedOrExact) {
  const int64_t prime = 1000003;
  const ByteSet a = strided(0, 500000, prime, kMillion);
  const ByteSet b = strided(0, 500000, prime + 16, kMillion);
  const auto refused = intersect(a, b, {1000, 1000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kTooComplex);
  EXPECT_NE(refused.error().message().find("1000 runs"), std::string::npos);
  EXPECT_TRUE(intersect(a, b));
}

TEST(ByteSet, OfAPatternThatInterleavesItself) {
  const Pattern column = repeat(Pattern::run({{0}}, 4).value(), kMillion, {{4000}}).value();
  const ByteSet table = ByteSet::of(repeat(column, 1000, {{4}}).value()).value();
  EXPECT_EQ(table.runs(), 1);
  EXPECT_EQ(table.size(), 4000 * kMillion);
  const ByteSet backwards = ByteSet::of(repeat(column, 1000, {{-4}}).value()).value();
  EXPECT_EQ(backwards.span().begin, -3996);
  EXPECT_EQ(backwards.runs(), 1);
}

TEST(ByteSet, ManyPartsShareOneBudget) {
  // Each of the 2000 parts interleaves with all others, in strides that do not divide each other.
  Assembler<1> parts;
  for (int64_t i = 0; i < 2000; ++i) {
    const Pattern run = Pattern::run({{2000 - i}}, 1).value();
    parts.append(repeat(run, kMillion, {{100003 + 2 * i}}).value());
  }
  const std::clock_t begin = std::clock();  // of this process: others may be busy
  const auto refused = ByteSet::of(parts.finish().value(), {1 << 14, 1 << 18});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kTooComplex);
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

TEST(ByteSet, ReversedIntervalsAndOverflowAreRefused) {
  EXPECT_FALSE(ByteSet::of(Interval{5, 4}));
  EXPECT_FALSE(ByteSet::of(Interval{INT64_MIN, INT64_MAX}));
  EXPECT_FALSE(ByteSet::of(Interval{0, 10}).value().shifted(INT64_MAX));
  const ByteSet low = ByteSet::of(Interval{-kMaxPosition, -kMaxPosition + 1}).value();
  const ByteSet high = ByteSet::of(Interval{kMaxPosition - 1, kMaxPosition}).value();
  EXPECT_FALSE(unite(low, high));
}

std::set<int64_t> model_op(const std::set<int64_t>& a, const std::set<int64_t>& b, int op) {
  std::set<int64_t> out;
  const auto into = std::inserter(out, out.begin());
  if (op == 0) std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), into);
  if (op == 1) std::set_union(a.begin(), a.end(), b.begin(), b.end(), into);
  if (op == 2) std::set_difference(a.begin(), a.end(), b.begin(), b.end(), into);
  return out;
}

void check_set(const base::Result<ByteSet>& set, const std::set<int64_t>& expected) {
  ASSERT_TRUE(set) << set.error().message();
  set->ascending().check_invariants();
  ASSERT_TRUE(set->ascending().ascending());
  EXPECT_EQ(bytes_of(*set), expected);
}

TEST(ByteSetModel, AlgebraAgreesWithABitmap) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(6000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const ByteSet a = model::random_set(engine);
    const ByteSet b = model::random_set(engine);
    const Budget budget = model::random_budget(engine);
    const auto in_a = bytes_of(a);
    const auto in_b = bytes_of(b);
    check_set(intersect(a, b, budget), model_op(in_a, in_b, 0));
    check_set(unite(a, b, budget), model_op(in_a, in_b, 1));
    check_set(subtract(a, b, budget), model_op(in_a, in_b, 2));
    EXPECT_EQ(equal(a, b, budget).value(), in_a == in_b);
    EXPECT_TRUE(equal(a, subtract(unite(a, b).value(), subtract(b, a).value()).value()).value());
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ByteSetModel, QueriesAndComplement) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(3000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const ByteSet set = model::random_set(engine);
    const auto bytes = bytes_of(set);
    const int64_t begin = uniform(engine, -30, 120);
    const Interval window = {begin, begin + uniform(engine, 0, 12)};
    std::set<int64_t> inside;
    std::set<int64_t> outside;
    for (int64_t b = window.begin; b < window.end; ++b) {
      (bytes.count(b) != 0 ? inside : outside).insert(b);
    }
    EXPECT_EQ(set.contains(begin), bytes.count(begin) != 0);
    EXPECT_EQ(set.meets(window), !inside.empty());
    EXPECT_EQ(set.contains(window), outside.empty());
    check_set(set.within(window), inside);
    check_set(set.complement(window).value(), outside);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ByteSetModel, OfAnyPattern) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(4000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Pattern pattern = model::random_trace<1>(engine, static_cast<int>(round % 4));
    std::set<int64_t> expected;
    for (const Point<1>& p : model::positions(pattern)) expected.insert(p[0]);
    check_set(ByteSet::of(pattern, model::random_budget(engine)), expected);
    if (::testing::Test::HasFailure()) return;
  }
}

// Copies of copies, whose gaps differ from level to level so that no two levels are one.
ByteSet nested(int depth, int64_t count) {
  Pattern set = Pattern::run({{0}}, 1).value();
  for (int level = 0; level < depth; ++level) {
    set = repeat(set, count, {{set.span().end + 1 + level % 2}}).value();
  }
  EXPECT_EQ(set.shape().depth(), depth);
  return ByteSet::of_ascending(set);
}

// Without a bound, each level would double what has to be done.
TEST(ByteSet, DeepNestingIsRefusedAtOnce) {
  for (const int depth : {30, 40, 60}) {
    const ByteSet deep = nested(depth, 2);
    const Interval span = deep.span();
    const ByteSet middle = ByteSet::of(Interval{span.end / 2, span.end / 2 + 1}).value();
    EXPECT_EQ(deep.complement(span).error().code, base::Code::kTooComplex);
    EXPECT_EQ(unite(deep, middle).error().code, base::Code::kTooComplex);
    EXPECT_EQ(subtract(deep, middle).error().code, base::Code::kTooComplex);
    Budget budget;
    EXPECT_EQ(line_of(deep, span, 1, 0, budget).error().code, base::Code::kTooComplex);
  }
  const ByteSet wide = nested(36, 3);
  EXPECT_EQ(wide.complement(wide.span()).error().code, base::Code::kTooComplex);
}

TEST(ByteSet, NestingOfSomeLevelsIsLaidOut) {
  for (const int depth : {1, 5, 9}) {
    for (const int64_t count : {2, 3}) {
      const ByteSet set = nested(depth, count);
      Budget budget;
      const Line line = line_of(set, {-1, set.span().end + 1}, 1, 0, budget).value();
      line.check_invariants();
      EXPECT_EQ(line.runs(), 2 * set.runs() + 1);
      EXPECT_EQ(line.size(), set.span().length() + 2);
      const ByteSet rest = set.complement(set.span()).value();
      EXPECT_EQ(rest.runs(), set.runs() - 1);
      EXPECT_EQ(unite(set, rest).value().runs(), 1);
    }
  }
}

// Many views that are nested deeply share what laying them may cost.
TEST(ByteSet, LinesSpendTheBudget) {
  const ByteSet set = nested(17, 2);
  Budget budget = {int64_t{1} << 20, 0};
  int laid = 0;
  while (line_of(set, set.span(), 1, 0, budget)) ++laid;
  EXPECT_GT(laid, 0);
  EXPECT_LT(laid, 8);
}

TEST(LineModel, LabelsSurviveOverlayAndRelabelling) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(2000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const ByteSet a = model::random_set(engine);
    const ByteSet b = model::random_set(engine);
    const Interval domain = {uniform(engine, -30, 0), uniform(engine, 0, 150)};
    Budget budget;
    const Line ones = line_of(a, domain, 1, 0, budget).value();
    const Line twos = line_of(b, domain, 2, 0, budget).value();
    const auto mixed = overlay(
        ones, twos, [](Label x, Label y) { return x + y; }, budget);
    const Line doubled = relabel(*mixed, [](Label label) { return 2 * label; });
    doubled.check_invariants();
    ASSERT_EQ(doubled.size(), std::max<int64_t>(0, domain.length()));
    const auto by_label = sets_by_label(doubled, [](Label) { return true; });
    for (const Point<2>& p : model::positions(doubled)) {
      const Label label = (a.contains(p[0]) ? 2 : 0) + (b.contains(p[0]) ? 4 : 0);
      ASSERT_EQ(p[1] - p[0], label);
      ASSERT_TRUE(by_label.at(label).contains(p[0]));
    }
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tessera::pattern
