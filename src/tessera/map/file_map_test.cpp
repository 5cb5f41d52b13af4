#include "tessera/map/file_map.hpp"

#include <gtest/gtest.h>

#include "tessera/map/file_map_test_support.hpp"
#include "tessera/map/map_codec.hpp"

namespace tessera::map {
namespace {

using model::Model;
using model::random_bytes;
using pattern::Budget;
using pattern::ByteSet;
using pattern::Interval;
using pattern::Pattern;
using pattern::model::Engine;
using pattern::model::uniform;

ByteSet run(int64_t begin, int64_t end) { return ByteSet::of(Interval{begin, end}).value(); }

ByteSet strided(int64_t begin, int64_t length, int64_t stride, int64_t count) {
  return ByteSet::of(repeat(Pattern::run({{begin}}, length).value(), count, {{stride}}).value())
      .value();
}

// A map and its model, to which the same happens.
struct Pair {
  FileMap map;
  Model model;
};

class Steps {
 public:
  explicit Steps(Engine& engine) : engine_(engine) {}

  Mapping mapping() {
    Mapping mapping = {random_bytes(engine_),
                       static_cast<AllocationId>(uniform(engine_, 0, model::kAllocations - 1)),
                       uniform(engine_, 0, 200), static_cast<uint64_t>(uniform(engine_, 0, 5))};
    // Often what a writer does next.
    if (uniform(engine_, 0, 1) == 0) mapping.place = place_;
    if (uniform(engine_, 0, 1) == 0) mapping.epoch = 3;
    place_ = mapping.place + mapping.bytes.size();
    seen_.push_back(mapping.bytes);
    return mapping;
  }

  // What was mapped some time, as one who reads what another wrote asks for it.
  ByteSet seen() {
    if (seen_.empty()) return random_bytes(engine_);
    return seen_[static_cast<size_t>(uniform(engine_, 0, std::ssize(seen_) - 1))];
  }

  // Writes of one size at one distance, as a loop of a program does them.
  void loop(Pair& pair) {
    Mapping next = mapping();
    const int64_t length = uniform(engine_, 1, 3);
    const int64_t distance = uniform(engine_, 1, 6);
    next.place = uniform(engine_, 0, 100);
    for (int64_t at = uniform(engine_, 0, 20); at + length <= model::kFileBytes; at += distance) {
      next.bytes = run(at, at + length);
      EXPECT_TRUE(pair.map.add(next));
      pair.model.add(next);
      next.place += length;
    }
  }

  void change(Pair& pair) {
    switch (uniform(engine_, 0, 11)) {
      case 0: {
        const ByteSet bytes = random_bytes(engine_);
        EXPECT_TRUE(pair.map.erase(bytes));
        return pair.model.erase(bytes);
      }
      case 1: {
        const int64_t size = uniform(engine_, 0, 2 * model::kFileBytes);
        ASSERT_TRUE(pair.map.truncate(size));
        return pair.model.erase(run(size, std::max(size, model::kFileBytes)));
      }
      case 2:
      case 3:
      case 4: {
        Mapping copy = mapping();
        if (uniform(engine_, 0, 1) == 0) copy.epoch = 9;
        EXPECT_TRUE(pair.map.add_replica(copy));
        return pair.model.add_replica(copy);
      }
      case 5: {
        const auto gone = static_cast<AllocationId>(uniform(engine_, 0, model::kAllocations - 1));
        if (uniform(engine_, 0, 2) != 0) return;
        EXPECT_TRUE(pair.map.drop_allocation(gone));
        return pair.model.drop_allocation(gone);
      }
      case 6:
        return loop(pair);
      default: {
        const Mapping added = mapping();
        EXPECT_TRUE(pair.map.add(added));
        return pair.model.add(added);
      }
    }
  }

 private:
  Engine& engine_;
  int64_t place_ = 0;
  std::vector<ByteSet> seen_;
};

void expect_answers(Engine& engine, Steps& steps, const Pair& pair) {
  model::expect_finds(pair.map, pair.model, random_bytes(engine));
  const auto preferred = static_cast<AllocationId>(uniform(engine, 0, model::kAllocations));
  model::expect_finds_whole(pair.map, pair.model, random_bytes(engine), preferred);
  const int64_t byte = uniform(engine, 0, model::kFileBytes - 4);
  model::expect_finds_whole(pair.map, pair.model, run(byte, byte + 3), preferred);
  model::expect_finds_whole(pair.map, pair.model, steps.seen(), preferred);
}

TEST(FileMap, FindsWhatATableOfBytesFinds) {
  Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(300); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    Steps steps(engine);
    Pair pair;
    for (int step = 0; step < 30; ++step) {
      steps.change(pair);
      expect_answers(engine, steps, pair);
      if (step % 5 == 0) model::expect_same(pair.map, pair.model);
      if (uniform(engine, 0, 9) == 0) pair.map = decode(encode(pair.map)).value();
      if (testing::Test::HasFailure()) return;
    }
    model::expect_same(pair.map, pair.model);
    pair.map.renumber([](AllocationId id) { return id + 5; });
    pair.model.renumber(5);
    model::expect_same(pair.map, pair.model);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(FileMap, MergesAsATableOfBytesDoes) {
  Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(300); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    Steps steps(engine);
    std::vector<FileMap> maps;
    Model model;
    const bool apart = uniform(engine, 0, 1) == 0;
    for (int64_t i = uniform(engine, 0, 4); i > 0; --i) {
      Pair pair;
      for (int64_t step = uniform(engine, 0, 12); step > 0; --step) steps.change(pair);
      if (apart) {
        const ByteSet others =
            strided((i % 3) * 2, 2, 6, 10).complement({0, model::kFileBytes}).value();
        ASSERT_TRUE(pair.map.erase(others));
        pair.model.erase(others);
      }
      model.add_all(pair.model);
      maps.push_back(pair.map);
    }
    const FileMap merged = FileMap::merge(maps).value();
    merged.check_invariants();
    for (int i = 0; i < 5; ++i) {
      model::expect_finds(merged, model, random_bytes(engine));
      model::expect_finds_whole(merged, model, random_bytes(engine), 1);
      const int64_t byte = uniform(engine, 0, model::kFileBytes - 4);
      model::expect_finds_whole(merged, model, run(byte, byte + 2), 2);
    }
    model::expect_same(merged, model);
    if (testing::Test::HasFailure()) return;
  }
}

// Any operation either does everything or nothing.
TEST(FileMap, WhatIsTooComplexChangesNothing) {
  Engine engine(pattern::model::seed());
  int refused = 0;
  for (int round = 0; round < pattern::model::rounds(300); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    Steps steps(engine);
    Pair pair;
    for (int step = 0; step < 10; ++step) steps.change(pair);
    const Budget small = {uniform(engine, 0, 4), uniform(engine, 0, 4)};
    const Mapping mapping = steps.mapping();
    if (pair.map.add(mapping, small)) {
      pair.model.add(mapping);
    } else {
      ++refused;
    }
    const ByteSet bytes = random_bytes(engine);
    if (pair.map.erase(bytes, small)) {
      pair.model.erase(bytes);
    } else {
      ++refused;
    }
    pair.map.check_invariants();
    model::expect_finds(pair.map, pair.model, run(0, model::kFileBytes));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 0);
}

TEST(FileMap, RefusesBytesOutsideOfAFile) {
  FileMap map;
  EXPECT_EQ(map.add({run(-1, 4), 0, 0, 1}).error().code, base::Code::kInvalid);
  EXPECT_EQ(map.add({run(0, 4), 0, -1, 1}).error().code, base::Code::kInvalid);
  EXPECT_EQ(map.add({run(0, 4), 0, pattern::kMaxPosition - 2, 1}).error().code,
            base::Code::kInvalid);
  EXPECT_TRUE(map.empty());
}

// Pieces of eight bytes each, a piece apart, as many as a budget has steps: each is cut in two.
TEST(FileMap, AnyNumberOfRegularPiecesIsCutOff) {
  constexpr int64_t kPieces = (int64_t{1} << 18) + 100;
  const pattern::Join run = pattern::Join::run({{0, 0}}, 1).value();
  const pattern::Join eight = pattern::repeat(run, 8, {{kPieces, 1}}).value();
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < kPieces; ++i) {
    pieces.push_back({1, 1, eight.shifted({{i, 8 * i}}).value()});
  }
  FileMap map = FileMap::of(pieces, {}, 1, Origin::kChecked).value();
  ASSERT_TRUE(map.truncate(4 * kPieces));
  EXPECT_EQ(map.covered_bytes(), 4 * kPieces);
  ASSERT_TRUE(map.truncate(0));
  EXPECT_TRUE(map.empty());
}

// A map of few bytes that stands for more than anybody can walk.
TEST(FileMap, DeeplyNestedPiecesAreAnsweredOrRefusedAtOnce) {
  for (const int depth : {40, 60}) {
    pattern::Join pairs = pattern::Join::run({{0, 0}}, 1).value();
    for (int level = 0; level < depth; ++level) {
      const int64_t stride = pairs.span(0).end + 1 + level % 2;
      pairs = pattern::repeat(pairs, 2, {{stride, pairs.size()}}).value();
    }
    const Piece piece = {1, 1, pairs};
    const int64_t end = pairs.span(0).end;
    std::vector<Piece> pieces = {piece};
    const FileMap map = FileMap::of(pieces, {}, 1).value();
    const ByteSet middle = ByteSet::of(pattern::Interval{end / 2 - 9, end / 2 + 9}).value();
    const Found found = map.find(middle).value();
    EXPECT_GT(found.missing.size(), 0);
    EXPECT_EQ(map.find(ByteSet::of(pattern::Interval{0, end}).value()).error().code,
              base::Code::kTooComplex);
    FileMap other = map;
    EXPECT_TRUE(other.add({middle, 2, 0, 2}));
    EXPECT_TRUE(other.truncate(end / 2));
    other.check_invariants();
    // The same once more: in the gaps, and then where it already is.
    pieces.push_back({2, 1, pairs.shifted({{1, 0}}).value()});
    EXPECT_TRUE(FileMap::of(pieces, {}, 1));
    pieces.push_back({3, 1, pairs.shifted({{2, 0}}).value()});
    EXPECT_EQ(FileMap::of(pieces, {}, 1).error().code, base::Code::kIntegrity);
  }
}

}  // namespace
}  // namespace tessera::map
