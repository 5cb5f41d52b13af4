#include "tessera/move/move.hpp"

#include <gtest/gtest.h>

#include "tessera/move/test_moves.hpp"

namespace tessera::move {
namespace {

using model::Case;
using model::Chance;
using model::Contents;

constexpr int64_t kFileEnd = 256;

Pattern run(int64_t at, int64_t length) { return Pattern::run({{at}}, length).value(); }

Pattern strided(int64_t at, int64_t length, int64_t stride, int64_t count) {
  return pattern::repeat(run(at, length), count, {{stride}}).value();
}

TEST(Move, ClipTakesTheSameBytesOfBothSides) {
  const Move move = {Direction::kWrite, strided(100, 4, 10, 5), strided(0, 5, 7, 4), nullptr};
  const Move part = move.clip({3, 9});
  EXPECT_EQ(part.size(), 6);
  EXPECT_EQ(part.memory.size(), 6);
  EXPECT_EQ(part.file.at()[0], 103);
  EXPECT_EQ(part.memory.at()[0], 3);
  EXPECT_EQ(part.direction, Direction::kWrite);
  EXPECT_FALSE(part.memory_is_run());
  EXPECT_TRUE(move.clip({5, 9}).memory_is_run());
  EXPECT_EQ(move.clip({20, 30}).size(), 0);
}

TEST(Move, CopiesToABufferWhatAWriteWouldPutThere) {
  Chance chance(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(3000); ++round) {
    const Case test = model::random_case(chance, Direction::kWrite, kFileEnd);
    const int64_t begin = pattern::model::uniform(chance, 0, test.move.file.span().begin);
    Contents buffer = model::random_contents(chance, kFileEnd - begin);
    Contents expected(static_cast<size_t>(begin));
    expected.insert(expected.end(), buffer.begin(), buffer.end());
    expected = model::after_write(test, expected, test.move.size());
    copy_to_buffer(test.move, buffer.data(), begin);
    expected.erase(expected.begin(), expected.begin() + begin);
    ASSERT_EQ(buffer, expected) << pattern::model::seed_note(round);
  }
}

TEST(Move, CopiesFromABufferWhatAReadWouldBring) {
  Chance chance(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(3000); ++round) {
    Case test = model::random_case(chance, Direction::kRead, kFileEnd);
    const Contents file = model::random_contents(chance, kFileEnd);
    const Contents expected = model::after_read(test, file, test.move.size());
    const int64_t begin = pattern::model::uniform(chance, 0, test.move.file.span().begin);
    copy_from_buffer(test.move, file.data() + begin, begin);
    ASSERT_EQ(test.memory, expected) << pattern::model::seed_note(round);
  }
}

// Large enough for joins and for several staging buffers.
struct Large {
  Pattern file;
  Pattern memory;
};

void copy_there_and_back(const Large& large) {
  ASSERT_EQ(large.file.size(), large.memory.size());
  Contents memory(static_cast<size_t>(large.memory.span().end));
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 7919 >> 8);
  const Contents original = memory;
  Contents buffer(static_cast<size_t>(large.file.span().end - 5));
  const Move move = {Direction::kWrite, large.file, large.memory, memory.data()};
  copy_to_buffer(move, buffer.data(), 5);
  const auto files = pattern::model::positions(large.file);
  const auto memories = pattern::model::positions(large.memory);
  for (size_t i = 0; i < files.size(); ++i) {
    ASSERT_EQ(buffer[static_cast<size_t>(files[i][0] - 5)],
              memory[static_cast<size_t>(memories[i][0])])
        << i;
  }
  for (const auto& place : memories) memory[static_cast<size_t>(place[0])] = std::byte{0};
  copy_from_buffer(move, buffer.data(), 5);
  ASSERT_EQ(memory, original);
}

TEST(Move, LargeCopiesOfRegularPatternsAreRight) {
  copy_there_and_back({strided(5, 8, 32, 100'000), strided(0, 16, 24, 50'000)});
  copy_there_and_back({strided(6, 24, 32, 30'000), strided(1, 60, 61, 12'000)});
}

TEST(Move, LongRunsOfBothSidesAreCopiedOneByOne) {
  const Large alike = {strided(5, 240, 512, 3'000), strided(0, 240, 272, 3'000)};
  const Large cut_apart = {strided(7, 300, 512, 2'000), strided(3, 400, 401, 1'500)};
  for (const Large& large : {alike, cut_apart}) {
    EXPECT_TRUE(has_long_runs({Direction::kWrite, large.file, large.memory, nullptr}));
    copy_there_and_back(large);
  }
  const Large short_in_memory = {strided(5, 240, 512, 100), strided(0, 24, 32, 1'000)};
  EXPECT_FALSE(
      has_long_runs({Direction::kWrite, short_in_memory.file, short_in_memory.memory, nullptr}));
}

TEST(Move, LargeCopiesOfIrregularPatternsAreRight) {
  Chance chance(pattern::model::seed());
  const auto irregular = [&chance](int64_t at, int64_t size) {
    pattern::Assembler<1> runs;
    while (size > 0) {
      const int64_t length = std::min(size, pattern::model::uniform(chance, 1, 400));
      runs.append(run(at, length));
      at += length + pattern::model::uniform(chance, 1, 50);
      size -= length;
    }
    return runs.finish().value();
  };
  copy_there_and_back({irregular(5, 700'001), irregular(0, 700'001)});
}

}  // namespace
}  // namespace tessera::move
