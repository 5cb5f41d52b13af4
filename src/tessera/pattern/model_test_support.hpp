// Random traces and an obvious oracle for them: the vector of all byte positions, in stream order.
//
// Universes are small, so that touching, overlapping and interleaving patterns are common. Every
// random test prints its seed on failure; TESSERA_SEED sets it, TESSERA_SOAK multiplies the rounds.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern::model {

using Engine = std::mt19937_64;

inline uint64_t seed() {
  const char* text = std::getenv("TESSERA_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20240611;
}

inline int rounds(int normal) {
  return std::getenv("TESSERA_SOAK") != nullptr ? 50 * normal : normal;
}

inline int64_t uniform(Engine& engine, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(engine);
}

template <int D>
using Positions = std::vector<Point<D>>;

template <int D>
Positions<D> positions(const Trace<D>& trace) {
  Positions<D> result;
  for (const Piece<D>& piece : expand(trace)) {
    for (int64_t i = 0; i < piece.length; ++i) result.push_back(piece.at.advanced(i));
  }
  return result;
}

template <int D>
Point<D> random_point(Engine& engine, int64_t low, int64_t high) {
  Point<D> point;
  for (int d = 0; d < D; ++d) point[d] = uniform(engine, low, high);
  return point;
}

// Any trace: overlapping, descending and touching parts included.
template <int D>
Trace<D> random_trace(Engine& engine, int depth) {
  const int64_t kind = depth == 0 ? 0 : uniform(engine, 0, 2);
  if (kind == 0) {
    return Trace<D>::run(random_point<D>(engine, -8, 24), uniform(engine, 0, 4)).value();
  }
  if (kind == 1) {
    const Trace<D> child = random_trace<D>(engine, depth - 1);
    Point<D> stride = random_point<D>(engine, -6, 14);
    if (uniform(engine, 0, 2) == 0) stride = child.shape().end();
    return repeat(child, uniform(engine, 0, 5), stride).value();
  }
  Assembler<D> sequence;
  for (int64_t i = uniform(engine, 0, 4); i > 0; --i) {
    sequence.append(random_trace<D>(engine, depth - 1));
  }
  return sequence.finish().value();
}

// An ascending pattern of a few levels whose strides are often equal or multiples of each other.
inline Pattern random_ascending(Engine& engine, int depth) {
  if (depth == 0) return Pattern::run({{0}}, uniform(engine, 1, 4)).value();
  if (uniform(engine, 0, 1) == 0) {
    const Pattern child = random_ascending(engine, depth - 1);
    const int64_t slack = uniform(engine, 0, 6);
    const int64_t stride = child.span().end + slack;
    const int64_t even = uniform(engine, 0, 1) == 0 ? stride : (stride + 7) / 8 * 8;
    return repeat(child, uniform(engine, 1, 9), {{even}}).value();
  }
  Assembler<1> sequence;
  int64_t at = 0;
  for (int64_t i = uniform(engine, 1, 4); i > 0; --i) {
    const Pattern part = random_ascending(engine, depth - 1);
    sequence.append(part.shifted({{at}}).value());
    at += part.span().end + uniform(engine, 0, 5);
  }
  return sequence.finish().value();
}

inline ByteSet random_set(Engine& engine) {
  const Pattern pattern = random_ascending(engine, static_cast<int>(uniform(engine, 0, 3)));
  return ByteSet::of_ascending(pattern.shifted({{uniform(engine, -20, 60)}}).value());
}

// Budgets from far too small to plenty, so that every way to an answer is taken.
inline Budget random_budget(Engine& engine) {
  const int64_t steps[] = {0, 3, 10, 50, int64_t{1} << 18};
  return {steps[uniform(engine, 0, 4)], int64_t{1} << 22};
}

inline std::set<int64_t> bytes_of(const ByteSet& set) {
  std::set<int64_t> result;
  for (const Point<1>& p : positions(set.ascending())) result.insert(p[0]);
  return result;
}

inline std::string seed_note(int round) {
  return "TESSERA_SEED=" + std::to_string(seed()) + " round " + std::to_string(round);
}

}  // namespace tessera::pattern::model
