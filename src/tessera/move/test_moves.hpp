// Random moves in a small universe, and what they ought to do: an oracle, byte by byte.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/move/move.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/model_test_support.hpp"

namespace tessera::move::model {

namespace random = pattern::model;

using Chance = random::Engine;
using Contents = std::vector<std::byte>;

// Memory of a process: a move's offsets are counted from its middle, so they may be negative.
inline constexpr int64_t kMemoryReach = 2048;

inline Contents random_contents(Chance& chance, int64_t size) {
  Contents contents(static_cast<size_t>(size));
  for (std::byte& b : contents) b = static_cast<std::byte>(random::uniform(chance, 1, 255));
  return contents;
}

// An ascending pattern within [0, end), often with many runs, sometimes empty.
inline Pattern random_file(Chance& chance, int64_t end) {
  const int depth = static_cast<int>(random::uniform(chance, 0, 3));
  const Pattern pattern = random::random_ascending(chance, depth);
  const int64_t at = random::uniform(chance, 0, end / 2);
  return pattern.shifted({{at}}).value().within({0, end});
}

// Runs of distinct bytes in any order, `size` bytes in all.
inline Pattern random_places(Chance& chance, int64_t size) {
  std::vector<Interval> runs;
  int64_t at = -random::uniform(chance, 0, 60);
  for (int64_t left = size; left > 0;) {
    const int64_t length = std::min(left, random::uniform(chance, 1, 9));
    at += random::uniform(chance, 0, 2) == 0 ? 0 : random::uniform(chance, 1, 3);
    runs.push_back({at, at + length});
    at += length;
    left -= length;
  }
  if (random::uniform(chance, 0, 1) == 0) std::shuffle(runs.begin(), runs.end(), chance);
  pattern::Assembler<1> places;
  for (const Interval run : runs) {
    places.append(Pattern::run({{run.begin}}, run.length()).value());
  }
  return places.finish().value();
}

// A strided pattern of distinct bytes, its last run cut to fit.
inline Pattern strided_places(Chance& chance, int64_t size) {
  const int64_t length = random::uniform(chance, 1, 8);
  const int64_t stride = length + random::uniform(chance, 1, 3);
  const Pattern run = Pattern::run({{random::uniform(chance, -40, 10)}}, length).value();
  return pattern::repeat(run, size / length + 1, {{stride}}).value().clip({0, size});
}

inline Pattern random_memory(Chance& chance, int64_t size) {
  const int64_t kind = random::uniform(chance, 0, 3);
  if (kind == 0) return Pattern::run({{random::uniform(chance, -50, 50)}}, size).value();
  return kind == 1 ? strided_places(chance, size) : random_places(chance, size);
}

// A move and the memory that it belongs to.
struct Case {
  Contents memory;
  Move move;
};

inline Case random_case(Chance& chance, Direction direction, int64_t file_end) {
  Case result;
  result.memory = random_contents(chance, 2 * kMemoryReach);
  Pattern file = random_file(chance, file_end);
  Pattern memory = random_memory(chance, file.size());
  result.move = {direction, std::move(file), std::move(memory),
                 result.memory.data() + kMemoryReach};
  return result;
}

// What memory holds after the first `bytes` of a read.
inline Contents after_read(const Case& before, const Contents& file, int64_t bytes) {
  Contents memory = before.memory;
  const auto from = random::positions(before.move.file);
  const auto to = random::positions(before.move.memory);
  for (size_t i = 0; i < static_cast<size_t>(bytes); ++i) {
    memory[static_cast<size_t>(kMemoryReach + to[i][0])] = file[static_cast<size_t>(from[i][0])];
  }
  return memory;
}

// What the file holds after the first `bytes` of a write.
inline Contents after_write(const Case& move, Contents file, int64_t bytes) {
  const auto to = random::positions(move.move.file);
  const auto from = random::positions(move.move.memory);
  for (size_t i = 0; i < static_cast<size_t>(bytes); ++i) {
    const auto place = static_cast<size_t>(to[i][0]);
    if (place >= file.size()) file.resize(place + 1);
    file[place] = move.memory[static_cast<size_t>(kMemoryReach + from[i][0])];
  }
  return file;
}

// How many bytes at the start of the stream lie in a file of this size.
inline int64_t readable(const Move& move, int64_t file_size) {
  return move.file.empty() ? 0 : move.file.offset_of(file_size);
}

}  // namespace tessera::move::model
