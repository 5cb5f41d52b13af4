#include "tessera/move/window_copy.hpp"

#include <gtest/gtest.h>

#include "tessera/move/test_moves.hpp"

namespace tessera::move {
namespace {

using model::Case;
using model::Chance;
using model::Contents;
using pattern::model::rounds;
using pattern::model::seed;
using pattern::model::seed_note;
using pattern::model::uniform;

constexpr int64_t kFileEnd = 256;

struct StretchCase {
  Case test;
  Interval stream;
  int64_t begin = 0;  // of the window, at the stretch's first byte
  Contents window;
};

StretchCase random_stretch(Chance& chance, Direction direction) {
  StretchCase result;
  do {
    result.test = model::random_case(chance, direction, kFileEnd);
  } while (result.test.move.file.empty());
  Move& move = result.test.move;
  if (uniform(chance, 0, 1) == 0) {
    move.memory = Pattern::run({{uniform(chance, -50, 50)}}, move.size()).value();
  }
  result.stream.begin = uniform(chance, 0, move.size());
  result.stream.end = uniform(chance, result.stream.begin, move.size());
  const Interval span = move.file.clip(result.stream).span();
  result.begin = span.begin;
  result.window = model::random_contents(chance, span.length());
  return result;
}

// As copies of the part cut out, which other tests compare with an oracle.
TEST(WindowCopy, AStretchIsCopiedAsIfItWereCutOut) {
  Chance chance(seed());
  for (int round = 0; round < rounds(4000); ++round) {
    const Direction direction = round % 2 == 0 ? Direction::kRead : Direction::kWrite;
    StretchCase stretch = random_stretch(chance, direction);
    Case other = stretch.test;
    other.move.base = other.memory.data() + model::kMemoryReach;
    stretch.test.move.base = stretch.test.memory.data() + model::kMemoryReach;
    Contents window = stretch.window;
    const Move part = other.move.clip(stretch.stream);
    if (direction == Direction::kRead) {
      copy_from_buffer(part, window.data(), stretch.begin);
    } else {
      copy_to_buffer(part, window.data(), stretch.begin);
    }
    copy_stretch(stretch.test.move, stretch.stream, stretch.window.data(), stretch.begin);
    ASSERT_EQ(stretch.window, window) << seed_note(round);
    ASSERT_EQ(stretch.test.memory, other.memory) << seed_note(round);
  }
}

}  // namespace
}  // namespace tessera::move
