#include "tessera/pattern/view.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

#include "tessera/pattern/model_test_support.hpp"

namespace tessera::pattern {
namespace {

using base::Code;
using model::Engine;
using model::uniform;

Datatype bytes(int64_t size) { return basic(size).value(); }

// A view and the positions of its first bytes, written out.
struct Twin {
  View view;
  std::vector<int64_t> positions;
};

Twin random_view(Engine& engine) {
  const Pattern tile = model::random_ascending(engine, static_cast<int>(uniform(engine, 0, 3)))
                           .shifted({{uniform(engine, 0, 5)}})
                           .value();
  const int64_t slack = uniform(engine, 0, 1) * uniform(engine, 0, 9);
  const int64_t extent = tile.span().length() + slack;
  const int64_t displacement = uniform(engine, 0, 20);
  const Datatype filetype = {tile, 0, extent};
  Twin twin{View::make(displacement, filetype, 1).value(), {}};
  const auto one = model::positions(tile);
  for (int64_t copy = 0; copy < 5; ++copy) {
    for (const Point<1>& p : one) twin.positions.push_back(displacement + copy * extent + p[0]);
  }
  return twin;
}

void check_stream(Engine& engine, const Twin& twin) {
  const auto size = static_cast<int64_t>(twin.positions.size());
  const int64_t begin = uniform(engine, 0, size);
  const int64_t end = uniform(engine, begin, size);
  const Pattern part = twin.view.bytes({begin, end}).value();
  part.check_invariants();
  std::vector<int64_t> found;
  for (const Point<1>& p : model::positions(part)) found.push_back(p[0]);
  const std::vector<int64_t> expected(twin.positions.begin() + begin, twin.positions.begin() + end);
  EXPECT_EQ(found, expected);
  const int64_t offset = uniform(engine, 0, size - 1);
  EXPECT_EQ(twin.view.position(offset).value(), twin.positions[static_cast<size_t>(offset)]);
}

void check_range(Engine& engine, const Twin& twin) {
  const int64_t last = twin.positions.back();
  const Interval range = {uniform(engine, -5, last), uniform(engine, -5, last)};
  std::set<int64_t> expected;
  int64_t before = 0;
  for (const int64_t p : twin.positions) {
    if (p >= range.begin && p < range.end) expected.insert(p);
    if (p < range.begin) ++before;
  }
  EXPECT_EQ(model::bytes_of(twin.view.within(range).value()), expected);
  EXPECT_EQ(twin.view.offset_of(range.begin), before);
}

TEST(View, TilesTheFiletype) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(3000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Twin twin = random_view(engine);
    check_stream(engine, twin);
    check_range(engine, twin);
    if (HasFailure()) return;
  }
}

TEST(View, DefaultIsTheWholeFile) {
  const View view;
  EXPECT_EQ(view.limit(), kMaxPosition);
  const Pattern all = view.bytes({0, view.limit()}).value();
  EXPECT_TRUE(all.shape().is_run());
  EXPECT_EQ(all.span(), (Interval{0, kMaxPosition}));
  EXPECT_EQ(view.position(kMaxPosition - 1).value(), kMaxPosition - 1);
}

TEST(View, StaysCompressed) {
  const Datatype column = resized(bytes(8), 0, 8000).value();
  const View view = View::make(16, column, 8).value();
  const Pattern part = view.bytes({3, 8'000'003}).value();
  EXPECT_EQ(part.size(), 8'000'000);
  EXPECT_LE(part.shape().weight(), 4);  // a head, a repetition of runs, a tail
  EXPECT_EQ(view.within({0, 8'000'000}).value().size(), 8000);
}

TEST(View, EndsWithTheOffsets) {
  const Datatype half = resized(bytes(1), 0, kMaxPosition / 2).value();
  const View view = View::make(kMaxPosition / 2, half, 1).value();
  EXPECT_EQ(view.limit(), 1);
  EXPECT_EQ(view.position(0).value(), kMaxPosition / 2);
  EXPECT_EQ(view.offset_of(kMaxPosition), 1);
  EXPECT_EQ(view.offset_of(std::numeric_limits<int64_t>::max()), 1);
  EXPECT_EQ(view.offset_of(std::numeric_limits<int64_t>::min()), 0);
  EXPECT_EQ(view.bytes({0, 2}).error().code, Code::kInvalid);
  EXPECT_EQ(view.bytes({-1, 1}).error().code, Code::kInvalid);
  EXPECT_EQ(view.bytes({1, 0}).error().code, Code::kInvalid);
  EXPECT_EQ(view.position(1).error().code, Code::kInvalid);
  EXPECT_EQ(view.position(-1).error().code, Code::kInvalid);
}

void expect_refused(int64_t displacement, const Datatype& filetype, int64_t etype_size,
                    const std::string& word) {
  const auto view = View::make(displacement, filetype, etype_size);
  ASSERT_FALSE(view.has_value()) << word;
  EXPECT_EQ(view.error().code, Code::kInvalid);
  EXPECT_NE(view.error().message().find(word), std::string::npos) << view.error().message();
}

TEST(View, UnfitFiletypesAreRefused) {
  const std::vector<Block> before = {{1, -4}};
  const std::vector<Block> back = {{1, 8}, {1, 0}};
  const std::vector<Block> twice = {{2, 0}, {1, 1}};
  expect_refused(0, bytes(0), 1, "no bytes");
  expect_refused(0, bytes(6), 4, "multiple");
  expect_refused(0, bytes(6), 0, "multiple");
  expect_refused(0, bytes(6), -1, "multiple");
  expect_refused(-1, bytes(1), 1, "displacement -1");
  expect_refused(kMaxPosition, bytes(1), 1, "displacement");
  expect_refused(0, hindexed(before, bytes(1)).value(), 1, "negative displacement -4");
  expect_refused(0, hindexed(back, bytes(1)).value(), 1, "ascend");
  expect_refused(0, hindexed(twice, bytes(1)).value(), 1, "ascend");
  expect_refused(0, resized(vector({2, 1, 4}, bytes(1)).value(), 0, 4).value(), 1, "interleave");
  expect_refused(0, resized(bytes(1), 0, -4).value(), 1, "interleave");
}

}  // namespace
}  // namespace tessera::pattern
