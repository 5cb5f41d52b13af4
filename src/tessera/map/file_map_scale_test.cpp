// File maps of the sizes that files have: what they cost in time and memory. The bounds are many
// times what a quiet machine needs; the figures are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

#include "tessera/map/file_map.hpp"
#include "tessera/map/map_codec.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/port/test_sanitizers.hpp"

namespace tessera::map {
namespace {

using pattern::ByteSet;
using pattern::Interval;
using pattern::Pattern;

constexpr int64_t kMany = 1'000'000;

ByteSet run(int64_t begin, int64_t end) { return ByteSet::of(Interval{begin, end}).value(); }

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// `count` runs of irregular lengths at irregular distances, stored in random order in four
// allocations; epochs of their own or one for all.
FileMap irregular_map(int64_t count, bool own_epochs) {
  std::mt19937_64 engine(7);
  std::uniform_int_distribution<int64_t> length(1, 4096);
  std::vector<Interval> runs;
  int64_t end = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = end + length(engine);
    end = begin + length(engine);
    runs.push_back({begin, end});
  }
  std::shuffle(runs.begin(), runs.end(), engine);
  FileMap map;
  int64_t places[4] = {};
  for (size_t i = 0; i < runs.size(); ++i) {
    const size_t allocation = i % 4;
    const uint64_t epoch = own_epochs ? i : 1;
    EXPECT_TRUE(map.add({run(runs[i].begin, runs[i].end), static_cast<AllocationId>(allocation),
                         places[allocation], epoch}));
    places[allocation] += runs[i].length();
  }
  return map;
}

// The time to find the first half of a run.
double find_ns(const FileMap& map) {
  std::vector<Interval> runs;
  map.for_each([&](const Piece& piece) { runs.push_back(piece.pairs.span()); });
  std::mt19937_64 engine(8);
  std::shuffle(runs.begin(), runs.end(), engine);
  constexpr size_t kTimes = 100'000;
  const Stopwatch watch;
  for (size_t i = 0; i < kTimes; ++i) {
    const Interval wanted = runs[i % runs.size()];
    const Found found =
        map.find(run(wanted.begin, wanted.begin + (wanted.length() + 1) / 2)).value();
    EXPECT_TRUE(found.parts.size() == 1 && found.missing.empty());
  }
  return watch.seconds() * 1e9 / kTimes;
}

void measure_irregular(bool own_epochs) {
  const Stopwatch adding;
  const FileMap map = irregular_map(kMany, own_epochs);
  const double added = adding.seconds();
  ASSERT_EQ(map.run_count(), kMany);
  const Stopwatch encoding;
  const base::Bytes bytes = encode(map);
  const double encoded = encoding.seconds();
  const Stopwatch decoding;
  const FileMap again = decode(bytes).value();
  const double decoded = decoding.seconds();
  EXPECT_EQ(again.run_count(), kMany);
  const double find_many_ns = find_ns(again);
  const double find_few_ns = find_ns(irregular_map(1000, own_epochs));
  std::printf(
      "a million runs, %s: add %.2f us each, %.1f B each in memory after add, %.1f B after decode, "
      "%.1f B encoded; encode %.2f s, decode %.2f s; find %.0f ns, of a thousand %.0f ns\n",
      own_epochs ? "epochs of their own" : "one epoch", added * 1e6 / kMany,
      static_cast<double>(map.memory_bytes()) / kMany,
      static_cast<double>(again.memory_bytes()) / kMany, static_cast<double>(bytes.size()) / kMany,
      encoded, decoded, find_many_ns, find_few_ns);
  EXPECT_LT(map.memory_bytes(), 64 * kMany);
  EXPECT_LT(again.memory_bytes(), 64 * kMany);
  EXPECT_LT(decoded, port::kSanitized ? 30 : 5);
  EXPECT_LT(find_many_ns, 20 * find_few_ns);
}

TEST(FileMapScale, AMillionIrregularRuns) { measure_irregular(false); }
TEST(FileMapScale, AMillionIrregularRunsWithEpochsOfTheirOwn) { measure_irregular(true); }

TEST(FileMapScale, AnIrregularMappingOfManyRuns) {
  std::mt19937_64 engine(9);
  std::uniform_int_distribution<int64_t> length(1, 4096);
  std::vector<pattern::Run> runs;
  int64_t end = 0;
  for (int64_t i = 0; i < kMany; ++i) {
    runs.push_back({end + length(engine), length(engine)});
    end = runs.back().begin + runs.back().length;
  }
  const ByteSet bytes = ByteSet::of_ascending(pattern::pattern_of_runs(runs).value());
  const Stopwatch watch;
  FileMap map;
  ASSERT_TRUE(map.add({bytes, 0, 0, 1}));
  const double added = watch.seconds();
  const Stopwatch finding;
  const Found found = map.find(bytes).value();
  ASSERT_EQ(found.parts.size(), 1U);
  EXPECT_EQ(found.parts[0].places.runs(), 1);
  std::printf("one mapping of a million runs: add %.2f s, find all %.2f s, %.1f B each\n", added,
              finding.seconds(), static_cast<double>(map.memory_bytes()) / kMany);
  EXPECT_LT(map.memory_bytes(), 64 * kMany);
}

// Tile (row, column) of an image of ints that is cut into 4 x 4 tiles.
ByteSet tile(int64_t row, int64_t column) {
  constexpr int64_t kWidthBytes = 4096 * 4;
  constexpr int64_t kTile = 4096 / 4;
  const Pattern line =
      Pattern::run({{row * kTile * kWidthBytes + column * kTile * 4}}, kTile * 4).value();
  return ByteSet::of(repeat(line, kTile, {{kWidthBytes}}).value()).value();
}

TEST(FileMapScale, TilesStayRegular) {
  FileMap map;
  for (AllocationId i = 0; i < 16; ++i) ASSERT_TRUE(map.add({tile(i / 4, i % 4), i, 0, 1}));
  EXPECT_EQ(map.piece_count(), 16);
  EXPECT_EQ(map.covered().value().runs(), 1);
  const base::Bytes bytes = encode(map);
  EXPECT_LT(bytes.size(), 1024U);
  const FileMap again = decode(bytes).value();
  EXPECT_EQ(again.piece_count(), 16);
  const auto own = again.find_whole(tile(2, 3), 11);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->places.runs(), 1);
  // A row across the image lies in four allocations.
  EXPECT_EQ(again.find(run(0, 4096 * 4)).value().parts.size(), 4U);
  std::printf("4 x 4 tiles: %zu B encoded, %lld B in memory\n", bytes.size(),
              static_cast<long long>(map.memory_bytes()));
}

// Tiles that overlap: each has all of its bytes in one run, whoever shows them.
TEST(FileMapScale, OverlappingTilesAreFoundWhole) {
  constexpr int64_t kRowBytes = 600 * 4 + 50;
  const auto overlapping = [](int64_t row, int64_t column) {
    const Pattern line = Pattern::run({{row * 80 * kRowBytes + column * 600}}, 650).value();
    return ByteSet::of(repeat(line, 100, {{kRowBytes}}).value()).value();
  };
  FileMap map;
  for (AllocationId i = 0; i < 16; ++i) {
    const ByteSet bytes = overlapping(i / 4, i % 4);
    ASSERT_TRUE(map.add({bytes, i, 4096, static_cast<uint64_t>(i + 1)}));
    for (AllocationId j = 0; j < i; ++j) {
      ASSERT_TRUE(
          map.add_replica({overlapping(j / 4, j % 4), j, 4096, static_cast<uint64_t>(i + 1)}));
    }
  }
  map = decode(encode(map)).value();
  for (AllocationId i = 0; i < 16; ++i) {
    const ByteSet bytes = overlapping(i / 4, i % 4);
    const auto whole = map.find_whole(bytes, -1);
    ASSERT_TRUE(whole) << i;
    EXPECT_EQ(whole->allocation, i);
    EXPECT_EQ(whole->places.runs(), 1);
    EXPECT_EQ(whole->places.at()[0], 4096);
    EXPECT_TRUE(same_shape(whole->bytes.ascending().shape(), bytes.ascending().shape()));
    // A part of a tile, that several tiles share.
    const auto part =
        map.find_whole(bytes.within({bytes.span().begin, bytes.span().begin + 5000}), i);
    ASSERT_TRUE(part) << i;
    EXPECT_EQ(part->allocation, i);
    EXPECT_EQ(part->places.at()[0], 4096);
  }
}

// Overwriting the second half of every line leaves regular halves.
TEST(FileMapScale, RegularOverwritesStayRegular) {
  FileMap map;
  ASSERT_TRUE(map.add({tile(0, 0), 0, 0, 1}));
  const Pattern half = Pattern::run({{2048}}, 2048).value();
  ASSERT_TRUE(map.add({ByteSet::of(repeat(half, 1024, {{4096 * 4}}).value()).value(), 1, 0, 2}));
  EXPECT_EQ(map.piece_count(), 2);
  EXPECT_EQ(map.live_bytes(0), 1024 * 2048);
  EXPECT_EQ(map.live_places(0).value().runs(), 1024);
}

TEST(FileMapScale, SmallWritesInSequenceAreOnePiece) {
  for (const int64_t distance : {100, 160}) {
    FileMap map;
    const Stopwatch watch;
    for (int64_t i = 0; i < kMany; ++i) {
      ASSERT_TRUE(map.add({run(i * distance, i * distance + 100), 0, i * 100, 1}));
    }
    std::printf("a million writes, %lld bytes apart: %.2f us each\n",
                static_cast<long long>(distance - 100), watch.seconds());
    EXPECT_EQ(map.piece_count(), 1);
    EXPECT_EQ(map.covered_bytes(), 100 * kMany);
  }
}

// Rows of a plane one by one, then planes: rows become pieces, and equal planes one piece.
TEST(FileMapScale, RegularWritesInSequenceAreOnePiece) {
  FileMap map;
  for (int64_t i = 0; i < 1000; ++i) {
    const Pattern row = repeat(Pattern::run({{i * 10'000}}, 10).value(), 50, {{100}}).value();
    ASSERT_TRUE(map.add({ByteSet::of_ascending(row), 0, i * 500, 1}));
  }
  EXPECT_EQ(map.piece_count(), 1);
  EXPECT_EQ(map.run_count(), 50'000);
}

// A thousand processes that write interleaved records.
TEST(FileMapScale, InterleavedWriters) {
  constexpr int64_t kWriters = 1000;
  std::vector<FileMap> maps(kWriters);
  for (int64_t i = 0; i < kWriters; ++i) {
    const Pattern record = Pattern::run({{i * 64}}, 64).value();
    const Pattern all = repeat(record, kMany, {{kWriters * 64}}).value();
    ASSERT_TRUE(maps[static_cast<size_t>(i)].add(
        {ByteSet::of_ascending(all), static_cast<AllocationId>(i), 0, 1}));
  }
  const Stopwatch merging;
  const FileMap merged = FileMap::merge(maps).value();
  const double merge_s = merging.seconds();
  EXPECT_EQ(merged.piece_count(), kWriters);
  const Stopwatch adding;
  FileMap one_by_one;
  for (const FileMap& map : maps) ASSERT_TRUE(one_by_one.add_all(map));
  const double add_s = adding.seconds();
  const base::Bytes bytes = encode(merged);
  const Stopwatch decoding;
  EXPECT_EQ(decode(bytes).value().piece_count(), kWriters);
  std::printf(
      "a thousand interleaved writers: merge %.3f s, one by one %.3f s, decode %.3f s, "
      "%zu B\n",
      merge_s, add_s, decoding.seconds(), bytes.size());
  EXPECT_LT(merge_s, 10);
  const Found found = merged.find(run(64'000 * 5000, 64'000 * 5001)).value();
  EXPECT_EQ(found.parts.size(), static_cast<size_t>(kWriters));
  EXPECT_TRUE(found.missing.empty());
}

}  // namespace
}  // namespace tessera::map
