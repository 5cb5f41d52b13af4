#include "tessera/pattern/join.hpp"

#include <gtest/gtest.h>

#include "tessera/pattern/assembler.hpp"
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

TEST(Join, ATileWithABufferIsOneStripe) {
  const Pattern tile = strided(640, 7680, 66720, 1650);
  const Join pairs = join(tile, run(0, tile.size())).value();
  EXPECT_EQ(pairs.shape().weight(), 2);
  EXPECT_EQ(pairs.position(7680), (Point<2>{{640 + 66720, 7680}}));
}

TEST(Join, RegularSidesStayCompressedWhateverTheirRuns) {
  const Pattern tile = strided(640, 7680, 66720, 1650);
  const Pattern commensurate = strided(0, 8, 16, tile.size() / 8);
  EXPECT_LT(join(tile, commensurate)->shape().weight(), 12);
  const Pattern coprime = strided(0, 7681, 10000, tile.size() / 7681 + 1).clip({0, tile.size()});
  EXPECT_LT(join(tile, coprime)->runs(), 2 * 1650 + 2);
}

TEST(Join, OfDifferentSizesIsRefused) {
  const auto refused = join(run(0, 4), run(0, 5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kInvalid);
}

// q cut or padded to the size of p.
Pattern of_size(const Pattern& q, int64_t size) {
  if (q.size() >= size) return q.clip({0, size});
  Assembler<1> padded;
  padded.append(q);
  padded.append(run(1000, size - q.size()));
  return padded.finish().value();
}

TEST(JoinModel, PairsBytesOfEqualStreamOffset) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(5000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Pattern p = model::random_trace<1>(engine, static_cast<int>(round % 4));
    const Pattern q = of_size(model::random_trace<1>(engine, 3), p.size());
    const auto pairs = join(p, q, model::random_budget(engine));
    ASSERT_TRUE(pairs);
    pairs->check_invariants();
    const auto at_p = positions(p);
    const auto at_q = positions(q);
    const auto both = positions(*pairs);
    ASSERT_EQ(both.size(), at_p.size());
    for (size_t i = 0; i < both.size(); ++i) {
      ASSERT_EQ(both[i], (Point<2>{{at_p[i][0], at_q[i][0]}}));
    }
    EXPECT_EQ(positions(side(*pairs, 0)), at_p);
    EXPECT_EQ(positions(side(swapped(*pairs), 0)), at_q);
  }
}

TEST(JoinModel, RestrictionKeepsThePairsOfASetInOrder) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(5000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Join pairs = model::random_trace<2>(engine, static_cast<int>(round % 4));
    const ByteSet set = model::random_set(engine);
    model::Positions<2> expected;
    for (const Point<2>& pair : positions(pairs)) {
      if (set.contains(pair[0])) expected.push_back(pair);
    }
    const auto kept = restrict(pairs, set, model::random_budget(engine));
    ASSERT_TRUE(kept);
    kept->check_invariants();
    ASSERT_EQ(positions(*kept), expected);
  }
}

TEST(JoinModel, MatchComposesOverTheCommonCoordinate) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(5000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Pattern logical = model::random_set(engine).ascending();
    const Pattern stored = of_size(model::random_trace<1>(engine, 2), logical.size());
    const Join map = join(logical, stored).value();
    const Join request = model::random_trace<2>(engine, static_cast<int>(round % 4));
    model::Positions<2> expected;
    for (const Point<2>& wanted : positions(request)) {
      for (const Point<2>& mapped : positions(map)) {
        if (wanted[0] == mapped[0]) expected.push_back({{wanted[1], mapped[1]}});
      }
    }
    const auto found = match(request, map, model::random_budget(engine));
    ASSERT_TRUE(found);
    found->check_invariants();
    ASSERT_EQ(positions(*found), expected);
  }
}

TEST(JoinModel, SelectAndLocateAreInverse) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(3000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Pattern pattern = model::random_trace<1>(engine, static_cast<int>(round % 4));
    const ByteSet set = model::random_set(engine);
    const ByteSet offsets = locate(pattern, set, model::random_budget(engine)).value();
    const auto all = positions(pattern);
    model::Positions<1> expected;
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(offsets.contains(static_cast<int64_t>(i)), set.contains(all[i][0]));
      if (set.contains(all[i][0])) expected.push_back(all[i]);
    }
    const auto chosen = select(pattern, offsets.ascending(), model::random_budget(engine));
    ASSERT_TRUE(chosen);
    ASSERT_EQ(positions(*chosen), expected);
  }
  EXPECT_FALSE(select(run(0, 4), run(2, 3)));
}

// Every level has the level below twice, so it is small only as long as both are one.
TEST(Join, SidesShareWhatThePairsShare) {
  Join pairs = Join::run({{0, 0}}, 4).value();
  for (int level = 0; level < 14; ++level) {
    const int64_t length = pairs.span().length();
    Assembler<2> sequence;
    sequence.append(pairs);
    sequence.append_run({{length + 3, pairs.size()}}, 5);
    sequence.append(pairs.shifted({{length + 11, pairs.size() + 5}}).value());
    const Join all = sequence.finish().value();
    pairs = repeat(all, 2, {{all.span().length() + 1, all.size()}}).value();
  }
  ASSERT_GT(pairs.shape().weight(), 10'000);
  ASSERT_LT(pairs.memory_bytes(), 20'000);
  EXPECT_LT(side(pairs, 0).memory_bytes(), 20'000);
  EXPECT_LT(swapped(pairs).memory_bytes(), 20'000);
  EXPECT_EQ(side(pairs, 1).runs(), 1);
}

}  // namespace
}  // namespace tessera::pattern
