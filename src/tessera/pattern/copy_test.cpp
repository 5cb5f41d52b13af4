#include "tessera/pattern/copy.hpp"

#include <gtest/gtest.h>

#include "tessera/pattern/model_test_support.hpp"

namespace tessera::pattern {
namespace {

using model::Engine;
using model::positions;
using model::uniform;

// A buffer whose positions may be negative, as those of MPI's memory types may be.
class Buffer {
 public:
  Buffer(Interval places, Engine& engine) : places_(places) {
    for (int64_t i = 0; i < places.length(); ++i) {
      bytes_.push_back(static_cast<std::byte>(uniform(engine, 0, 255)));
    }
  }
  std::byte* base() { return bytes_.data() - places_.begin; }
  std::byte& at(int64_t place) { return bytes_[static_cast<size_t>(place - places_.begin)]; }
  friend bool operator==(const Buffer& a, const Buffer& b) { return a.bytes_ == b.bytes_; }

 private:
  Interval places_;
  std::vector<std::byte> bytes_;
};

Interval room_for(Interval span) { return {std::min<int64_t>(span.begin, 0), span.end + 1}; }

TEST(CopyModel, GatherAndScatterAgreeWithAByteLoop) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(4000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Pattern pattern = model::random_trace<1>(engine, static_cast<int>(round % 4));
    Buffer memory(room_for(pattern.span()), engine);
    const auto places = positions(pattern);
    std::vector<std::byte> stream(places.size());
    gather(stream.data(), memory.base(), pattern);
    for (size_t i = 0; i < places.size(); ++i) ASSERT_EQ(stream[i], memory.at(places[i][0]));

    for (std::byte& byte : stream) byte = static_cast<std::byte>(uniform(engine, 0, 255));
    Buffer expected = memory;
    for (size_t i = 0; i < places.size(); ++i) expected.at(places[i][0]) = stream[i];
    scatter(memory.base(), stream.data(), pattern);
    ASSERT_TRUE(memory == expected);
  }
}

// A part of the stream, and nothing outside of it.
TEST(CopyModel, PartsAgreeWithAByteLoop) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(8000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Pattern pattern = model::random_trace<1>(engine, static_cast<int>(round % 4));
    Buffer memory(room_for(pattern.span()), engine);
    const auto places = positions(pattern);
    const int64_t begin = uniform(engine, 0, pattern.size());
    const Interval part = {begin, uniform(engine, begin, pattern.size())};
    const auto mode = round % 2 == 0 ? CopyMode::kCached : CopyMode::kStreaming;
    const auto place_of = [&](size_t i) { return places[static_cast<size_t>(begin) + i][0]; };
    std::vector<std::byte> stream(static_cast<size_t>(part.length()));
    gather(stream.data(), memory.base(), pattern, part, mode);
    for (size_t i = 0; i < stream.size(); ++i) ASSERT_EQ(stream[i], memory.at(place_of(i)));

    for (std::byte& byte : stream) byte = static_cast<std::byte>(uniform(engine, 0, 255));
    Buffer expected = memory;
    for (size_t i = 0; i < stream.size(); ++i) expected.at(place_of(i)) = stream[i];
    scatter(memory.base(), stream.data(), pattern, part, mode);
    ASSERT_TRUE(memory == expected);
  }
}

TEST(CopyModel, PairsAreCopiedInOrder) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(4000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Join pairs = model::random_trace<2>(engine, static_cast<int>(round % 4));
    Buffer from(room_for(pairs.span(0)), engine);
    Buffer to(room_for(pairs.span(1)), engine);
    Buffer expected = to;
    for (const Point<2>& pair : positions(pairs)) expected.at(pair[1]) = from.at(pair[0]);
    copy_pairs(to.base(), from.base(), pairs);
    ASSERT_TRUE(to == expected);
  }
}

// Variables of cells that hold all of them, one after another: gathered in another order than that
// of the stream, if enough of it is.
TEST(Copy, RepetitionsBetweenEachOtherArriveInTheirOrder) {
  Engine engine(model::seed());
  const Pattern cells = repeat(Pattern::run({{4096}}, 8).value(), 37, {{80}}).value();
  const Pattern blocks =
      repeat(repeat(cells, 10, {{80 * 40}}).value(), 11, {{80 * 40 * 12}}).value();
  for (const int64_t stride : {8, -8}) {
    const Pattern pattern = repeat(blocks, 9, {{stride}}).value();
    Buffer memory(room_for(pattern.span()), engine);
    EXPECT_EQ(gather_bytes(pattern, 1000, 1 << 30), 8 * blocks.size());
    EXPECT_EQ(gather_bytes(pattern, 1000, 5000), 5000);
    EXPECT_EQ(gather_bytes(blocks, 1000, 5000), 1000);
    for (int round = 0; round < 60; ++round) {
      const int64_t begin = round == 0 ? 0 : uniform(engine, 0, pattern.size());
      const int64_t end = round == 0 ? pattern.size() : uniform(engine, begin, pattern.size());
      std::vector<std::byte> stream(static_cast<size_t>(end - begin));
      gather(stream.data(), memory.base(), pattern, {begin, end},
             round % 2 == 0 ? CopyMode::kCached : CopyMode::kStreaming);
      const int64_t step = round < 4 ? 1 : 13;
      for (int64_t i = begin; i < end; i += step) {
        ASSERT_EQ(stream[static_cast<size_t>(i - begin)], memory.at(pattern.position(i)[0]))
            << begin << " to " << end << " at " << i;
      }
    }
  }
}

TEST(Copy, TransfersLargerThanTheCachesArriveWhole) {
  const int64_t count = int64_t{3} << 20;
  const Pattern pattern = repeat(Pattern::run({{5}}, 24).value(), count, {{40}}).value();
  std::vector<std::byte> memory(static_cast<size_t>(pattern.span().end));
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 131 >> 3);
  std::vector<std::byte> stream(static_cast<size_t>(pattern.size()));
  gather(stream.data(), memory.data(), pattern);
  std::vector<std::byte> back(memory.size());
  scatter(back.data(), stream.data(), pattern);
  for (int64_t i = 0; i < pattern.size(); i += 97) {
    const auto place = static_cast<size_t>(pattern.position(i)[0]);
    ASSERT_EQ(stream[static_cast<size_t>(i)], memory[place]);
    ASSERT_EQ(back[place], memory[place]);
  }
  EXPECT_EQ(back[0], std::byte{0});
  EXPECT_EQ(back[29], std::byte{0});
}

}  // namespace
}  // namespace tessera::pattern
