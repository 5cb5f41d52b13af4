#include "tessera/pattern/trace.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/model_test_support.hpp"

namespace tessera::pattern {
namespace {

using model::Engine;
using model::positions;
using model::uniform;

Pattern run(int64_t begin, int64_t length) { return Pattern::run({{begin}}, length).value(); }
Pattern strided(int64_t begin, int64_t length, int64_t stride, int64_t count) {
  return repeat(run(begin, length), count, {{stride}}).value();
}

TEST(Trace, RunsThatTouchBecomeOne) {
  EXPECT_TRUE(strided(5, 4, 4, 1000).shape().is_run());
  EXPECT_EQ(strided(5, 4, 4, 1000).size(), 4000);
  const Pattern pair = pattern_of_runs({{0, 2}, {4, 2}}).value();
  const Pattern touching = repeat(pair, 1000, {{6}}).value();
  EXPECT_EQ(touching.runs(), 1001);
  EXPECT_LT(touching.shape().weight(), 10);
  touching.check_invariants();
}

TEST(Trace, RepetitionsOfRepetitionsAreMergedWhereTheyContinue) {
  const Pattern outer = repeat(strided(0, 1, 4, 10), 100, {{40}}).value();
  EXPECT_EQ(outer.shape().depth(), 1);
  EXPECT_EQ(outer.runs(), 1000);
}

TEST(Trace, AnyNestingIsStoredInABoundedDepth) {
  Pattern nested = run(0, 1);
  int levels = 0;
  for (; levels < 10000; ++levels) {
    const int64_t stride = nested.span().length() + 1;
    auto next = repeat(nested, 2, {{stride}});
    if (!next) {
      EXPECT_EQ(next.error().code, base::Code::kInvalid);
      break;
    }
    nested = *next;
  }
  EXPECT_GT(levels, 50);
  EXPECT_LT(levels, 63);
  nested.check_invariants();
  for (int i = 0; i < 10000; ++i) nested = repeat(nested, 1, {{77}}).value();
  EXPECT_LE(nested.shape().depth(), kMaxDepth);
}

TEST(Trace, OverflowIsRefused) {
  const int64_t huge = int64_t{1} << 61;
  EXPECT_FALSE(Pattern::run({{0}}, -1));
  EXPECT_FALSE(Pattern::run({{kMaxPosition}}, 1));
  EXPECT_TRUE(Pattern::run({{kMaxPosition - 1}}, 1));
  EXPECT_FALSE(Pattern::run({{-kMaxPosition - 1}}, 1));
  EXPECT_FALSE(Pattern::run({{INT64_MAX}}, INT64_MAX));
  EXPECT_FALSE(repeat(run(0, 1), -1, {{8}}));
  EXPECT_FALSE(repeat(run(0, 8), huge, {{8}}));
  EXPECT_FALSE(repeat(run(0, 8), 3, {{huge * 2}}));
  EXPECT_FALSE(repeat(run(0, 8), INT64_MAX, {{INT64_MIN}}));
  EXPECT_FALSE(run(0, 8).shifted({{INT64_MAX}}));
  Assembler<1> far_apart;
  far_apart.append(run(-kMaxPosition, 1));
  far_apart.append(run(kMaxPosition - 1, 1));
  EXPECT_FALSE(far_apart.finish());
  const auto error = repeat(run(0, 8), huge, {{8}});
  EXPECT_NE(error.error().message().find("2^62"), std::string::npos);
}

TEST(Trace, SeekIsIndependentOfTheRunCount) {
  const Pattern tile = strided(123, 8, 16, int64_t{1} << 40);
  EXPECT_EQ(tile.position((int64_t{1} << 42) + 5)[0], 123 + (int64_t{1} << 39) * 16 + 5);
  EXPECT_EQ(tile.offset_of(123 + 16 * 1000 + 12), 8 * 1001);
}

TEST(Assembler, RecognisesPlanesRowsAndRuns) {
  std::vector<pattern::Run> runs;
  for (int64_t plane = 0; plane < 50; ++plane) {
    for (int64_t row = 0; row < 20; ++row) runs.push_back({plane * 10000 + row * 100, 40});
  }
  const Pattern block = pattern_of_runs(runs).value();
  EXPECT_EQ(block.shape().weight(), 3);
  EXPECT_EQ(block.runs(), 1000);
}

TEST(Assembler, RecognisesARepeatedStructure) {
  std::vector<pattern::Run> runs;
  for (int64_t i = 0; i < 1000; ++i) {
    runs.push_back({i * 64, 8});
    runs.push_back({i * 64 + 20, 4});
    runs.push_back({i * 64 + 40, 1});
  }
  const Pattern records = pattern_of_runs(runs).value();
  EXPECT_LE(records.shape().weight(), 4);
  EXPECT_EQ(records.runs(), 3000);
}

TEST(Assembler, LongIrregularListsTakeLinearTime) {
  Engine engine(model::seed());
  std::vector<pattern::Run> runs;
  int64_t at = 0;
  for (int i = 0; i < 1000000; ++i) {
    const int64_t length = uniform(engine, 1, 3);
    runs.push_back({at, length});
    at += length + uniform(engine, 1, 3);
  }
  const std::clock_t begin = std::clock();  // of this process: others may be busy
  const Pattern list = pattern_of_runs(runs).value();
  EXPECT_EQ(list.runs(), 1000000);
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

template <int D>
void check_against_model(const Trace<D>& trace, Engine& engine) {
  trace.check_invariants();
  const auto all = positions(trace);
  ASSERT_EQ(static_cast<int64_t>(all.size()), trace.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const auto offset = static_cast<int64_t>(i);
    ASSERT_EQ(trace.position(offset), all[i]);
    const Interval around = trace.run_at(offset);
    ASSERT_TRUE(around.contains({offset, offset + 1}));
    const auto first = static_cast<size_t>(around.begin);
    const auto last = static_cast<size_t>(around.end - 1);
    ASSERT_EQ(all[first].advanced(around.length() - 1), all[last]);
    ASSERT_TRUE(first == 0 || all[first - 1].advanced(1) != all[first]);
    ASSERT_TRUE(last + 1 == all.size() || all[last].advanced(1) != all[last + 1]);
  }
  int64_t runs = all.empty() ? 0 : 1;
  for (size_t i = 1; i < all.size(); ++i) runs += all[i - 1].advanced(1) != all[i] ? 1 : 0;
  EXPECT_EQ(trace.runs(), runs) << "(T1) runs are maximal";
  for (int d = 0; d < D; ++d) {
    bool ascending = true;
    Interval span = {0, 0};
    for (size_t i = 0; i < all.size(); ++i) {
      ascending = ascending && (i == 0 || all[i - 1][d] < all[i][d]);
      span = {i == 0 ? all[i][d] : std::min(span.begin, all[i][d]),
              i == 0 ? all[i][d] + 1 : std::max(span.end, all[i][d] + 1)};
    }
    EXPECT_EQ(trace.ascending(d), ascending);
    EXPECT_EQ(trace.span(d), span);
  }
  const Interval cut = {uniform(engine, -2, trace.size()), uniform(engine, 0, trace.size() + 2)};
  const Interval legal = common(cut, {0, trace.size()});
  const Trace<D> clipped = trace.clip(cut);
  clipped.check_invariants();
  const auto begin = all.begin() + std::min(legal.begin, trace.size());
  EXPECT_EQ(positions(clipped),
            (model::Positions<D>(begin, legal.empty() ? begin : all.begin() + legal.end)));
}

template <int D>
void check_within(const Trace<D>& trace, Engine& engine) {
  const Interval window = {uniform(engine, -10, 80), uniform(engine, -10, 80)};
  for (int d = 0; d < D; ++d) {
    if (!trace.ascending(d)) continue;
    model::Positions<D> expected;
    int64_t before = 0;
    for (const Point<D>& p : positions(trace)) {
      before += p[d] < window.begin ? 1 : 0;
      if (p[d] >= window.begin && p[d] < window.end) expected.push_back(p);
    }
    EXPECT_EQ(trace.offset_of(window.begin, d), before);
    EXPECT_EQ(positions(trace.within(window, d)), expected);
  }
}

template <int D>
void check_cursor(const Trace<D>& trace, Engine& engine) {
  const int64_t offset = uniform(engine, 0, trace.size());
  Cursor<D> cursor(trace, offset);
  model::Positions<D> walked;
  std::vector<Piece<D>> batch(static_cast<size_t>(uniform(engine, 1, 5)));
  bool more = true;
  while (more) {
    if (uniform(engine, 0, 1) == 0) {
      Stripe<D> stripe;
      more = cursor.next(stripe);
      for (int64_t i = 0; more && i < stripe.count * stripe.length; ++i) {
        const Point<D> at = stripe.at + stripe.stride * (i / stripe.length);
        walked.push_back(at.advanced(i % stripe.length));
      }
    } else {
      const size_t count = cursor.next_pieces(batch);
      more = count == batch.size();
      for (size_t i = 0; i < count; ++i) {
        for (int64_t k = 0; k < batch[i].length; ++k) walked.push_back(batch[i].at.advanced(k));
      }
    }
  }
  EXPECT_EQ(walked, positions(trace.clip({offset, trace.size()})));
}

template <int D>
void model_rounds(int count) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(count); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Trace<D> trace = model::random_trace<D>(engine, static_cast<int>(round % 4));
    check_against_model(trace, engine);
    check_within(trace, engine);
    check_cursor(trace, engine);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TraceModel, OneCoordinate) { model_rounds<1>(4000); }
TEST(TraceModel, TwoCoordinates) { model_rounds<2>(4000); }

TEST(TraceModel, AscendingPatterns) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(4000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Pattern pattern = model::random_ascending(engine, static_cast<int>(round % 4));
    ASSERT_TRUE(pattern.ascending());
    check_against_model(pattern, engine);
    check_within(pattern, engine);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tessera::pattern
