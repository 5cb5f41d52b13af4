#include "tessera/pattern/overlap.hpp"

#include <gtest/gtest.h>

#include "tessera/pattern/model_test_support.hpp"

namespace tessera::pattern {
namespace {

using model::Engine;
using model::uniform;

StridedSet random_strided(Engine& engine) {
  const int64_t stride = uniform(engine, 1, 30);
  return {uniform(engine, -40, 200), uniform(engine, 1, std::min<int64_t>(stride, 5)), stride,
          uniform(engine, 1, 20)};
}

ByteSet set_of(const StridedSet& strided) {
  const Pattern run = Pattern::run({{strided.begin}}, strided.length).value();
  return ByteSet::of_ascending(repeat(run, strided.count, {{strided.stride}}).value());
}

bool share_a_byte(const ByteSet& a, const ByteSet& b) {
  const auto bytes = model::bytes_of(b);
  for (const int64_t byte : model::bytes_of(a)) {
    if (bytes.count(byte) != 0) return true;
  }
  return false;
}

TEST(OverlapModel, StridedSetsAgreeWithABitmap) {
  Engine engine(model::seed());
  int overlapping = 0;
  const int total = model::rounds(20000);
  for (int round = 0; round < total; ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const StridedSet a = random_strided(engine);
    const StridedSet b = random_strided(engine);
    const bool expected = share_a_byte(set_of(a), set_of(b));
    ASSERT_EQ(overlaps(a, b), expected);
    ASSERT_EQ(overlaps(b, a), expected);
    overlapping += expected ? 1 : 0;
  }
  EXPECT_GT(overlapping, total / 10);
  EXPECT_LT(overlapping, total * 9 / 10);
}

TEST(OverlapModel, NestedSetsAgreeWithABitmap) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(10000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const ByteSet a = model::random_set(engine);
    const ByteSet b = model::random_set(engine);
    ASSERT_EQ(overlaps(a, b, model::random_budget(engine)).value(), share_a_byte(a, b));
  }
}

constexpr int64_t kMillion = 1000000;

TEST(Overlap, MillionsOfRunsAreDecidedByArithmetic) {
  // Every run of the first lies in a gap of the second, but for the very last.
  const StridedSet a = {0, 8, 1024, kMillion};
  const StridedSet b = {16, 8, 1024, kMillion};
  EXPECT_FALSE(overlaps(a, b));
  EXPECT_FALSE(overlaps(set_of(a), set_of(b), {10, 0}).value());
  // Strides 1000 and 1001 drift by one byte a run, so they meet after about 492 runs.
  EXPECT_FALSE(overlaps({0, 8, 1000, 485}, {500, 8, 1001, 485}));
  EXPECT_TRUE(overlaps({0, 8, 1000, 510}, {500, 8, 1001, 510}));
  EXPECT_TRUE(overlaps({0, 1, 1000003, kMillion}, {1, 1, 1000033, kMillion}));
  const int64_t far = int64_t{1} << 40;
  EXPECT_FALSE(overlaps({0, 2, 4, far}, {2, 2, 4, far}));
  EXPECT_TRUE(overlaps({0, 3, 4, far}, {2, 2, 4, far}));
}

TEST(Overlap, NestedStridesOfOnePeriodNeedFewSteps) {
  const Pattern rows = repeat(Pattern::run({{0}}, 4).value(), 1000, {{100}}).value();
  const ByteSet a = ByteSet::of_ascending(repeat(rows, kMillion, {{200000}}).value());
  EXPECT_FALSE(overlaps(a, a.shifted(50).value(), {20, 0}).value());
  EXPECT_TRUE(overlaps(a, a.shifted(53 + 47 + 200000).value(), {20, 0}).value());
}

TEST(Overlap, RefusesWhatItCannotDecide) {
  const Pattern inner = repeat(Pattern::run({{0}}, 1).value(), 1000, {{997}}).value();
  const Pattern other = repeat(Pattern::run({{0}}, 1).value(), 1000, {{991}}).value();
  const ByteSet a = ByteSet::of_ascending(repeat(inner, kMillion, {{1000003}}).value());
  const ByteSet b = ByteSet::of_ascending(repeat(other, kMillion, {{1000033}}).value());
  const auto refused = overlaps(a, b.shifted(1).value(), {0, 10});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kTooComplex);
}

}  // namespace
}  // namespace tessera::pattern
