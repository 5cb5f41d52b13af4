#include "tessera/pattern/encode.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tessera/pattern/datatype.hpp"
#include "tessera/pattern/model_test_support.hpp"

namespace tessera::pattern {
namespace {

using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Code;
using base::zigzag;
using model::Engine;
using model::uniform;

// Numbers after a header of one coordinate, as the format writes them.
Bytes encoding(const std::function<void(ByteWriter&)>& body) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.u8(kEncodingVersion);
  writer.u8(1);
  body(writer);
  return bytes;
}

uint64_t run(uint64_t length) { return (length - 1) << 2; }
uint64_t repeated(uint64_t count) { return (count - 2) << 2 | 1; }
uint64_t sequence(uint64_t items) { return (items - 2) << 3 | 2; }
uint64_t uniform_sequence(uint64_t items) { return sequence(items) | 4; }
uint64_t reference(uint64_t back) { return back << 2 | 3; }

void expect_refused(ByteView bytes, Code code, const std::string& word) {
  const auto trace = decode<1>(bytes);
  ASSERT_FALSE(trace.has_value()) << word;
  EXPECT_EQ(trace.error().code, code) << trace.error().message();
  EXPECT_NE(trace.error().message().find(word), std::string::npos) << trace.error().message();
}

template <int D>
void expect_round_trip(const Trace<D>& trace) {
  const Bytes bytes = encode(trace);
  const auto decoded = decode<D>(bytes);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
  decoded->check_invariants();
  EXPECT_EQ(decoded->at(), trace.at());
  EXPECT_TRUE(same_shape(decoded->shape(), trace.shape()));
  EXPECT_EQ(encode(*decoded), bytes);
}

// Any input gives an error of the right kind, or a trace that is as sound as any other.
template <int D>
void expect_sound(ByteView bytes) {
  const auto trace = decode<D>(bytes);
  if (!trace) {
    EXPECT_TRUE(trace.error().code == Code::kIntegrity || trace.error().code == Code::kTooComplex);
    return;
  }
  expect_round_trip(*trace);
}

template <int D>
Trace<D> random_clipped(Engine& engine) {
  const Trace<D> trace = model::random_trace<D>(engine, static_cast<int>(uniform(engine, 0, 4)));
  if (uniform(engine, 0, 1) == 0) return trace;
  const int64_t begin = uniform(engine, 0, trace.size());
  return trace.clip({begin, uniform(engine, begin, trace.size())});
}

template <int D>
void round_trips(uint64_t seed) {
  Engine engine(seed);
  for (int i = 0; i < model::rounds(3000); ++i) {
    SCOPED_TRACE(model::seed_note(i));
    expect_round_trip(random_clipped<D>(engine));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Encode, RandomPatternsRoundTrip) { round_trips<1>(model::seed()); }
TEST(Encode, RandomJoinsRoundTrip) { round_trips<2>(model::seed()); }

TEST(Encode, ExtremesRoundTrip) {
  expect_round_trip(Pattern{});
  expect_round_trip(Trace<2>{});
  expect_round_trip(Pattern::run({{-kMaxPosition}}, kMaxPosition).value());
  expect_round_trip(Trace<2>::run({{kMaxPosition - 1, -kMaxPosition}}, 1).value());
  const Pattern byte = Pattern::run({{0}}, 1).value();
  expect_round_trip(repeat(byte, 2, {{kMaxPosition - 1}}).value());
  expect_round_trip(repeat(byte, kMaxPosition / 2, {{2}}).value());
  Assembler<1> apart;
  apart.append_run({{0}}, 1);
  apart.append_run({{kMaxPosition / 2 - 1}}, 1);
  apart.append_run({{-kMaxPosition / 2}}, 1);
  expect_round_trip(apart.finish().value());
}

// One tile of a wall of 10 x 10 tiles of 1920 x 1650 pixels of 3 bytes that overlap by 280 x 150.
TEST(Encode, TileViewIsSmall) {
  const int64_t width = 10 * (1920 - 280) + 280;
  const int64_t height = 10 * (1650 - 150) + 150;
  const std::vector<Slice> slices = {{height, 1650, 5 * 1500}, {width, 1920, 5 * 1640}};
  const Datatype tile = subarray(slices, Order::kC, basic(3).value()).value();
  const Bytes bytes = encode(tile.bytes);
  EXPECT_LE(bytes.size(), 15U);
  expect_round_trip(tile.bytes);
}

TEST(Encode, SharedShapesAreWrittenOnce) {
  const std::vector<int64_t> uneven = {0, 3, 4, 9, 11, 20, 22, 31};
  Datatype type = basic(1).value();
  for (int level = 0; level < 4; ++level) {
    type = indexed_block(1, uneven, contiguous(2, resized(type, 0, 64).value()).value()).value();
  }
  EXPECT_GT(type.bytes.shape().weight(), 1000);
  EXPECT_LT(encode(type.bytes).size(), 200U);
  expect_round_trip(type.bytes);
}

TEST(Encode, EqualShapesEncodeEqually) {
  const Pattern once = vector({4, 1, 3}, basic(2).value()).value().bytes;
  const Pattern again = vector({4, 1, 3}, basic(2).value()).value().bytes;
  Assembler<1> shared;
  Assembler<1> apart;
  for (const int64_t at : {0, 100, 150}) {
    shared.append(once.shifted({{at}}).value());
    apart.append((at == 0 ? once : again).shifted({{at}}).value());
  }
  EXPECT_EQ(encode(shared.finish().value()), encode(apart.finish().value()));
}

TEST(Encode, OptionalFieldsAreSkipped) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.u8(kEncodingVersion);
  writer.u8(1 | 8);
  writer.sized_bytes(base::bytes_of("from the future"));
  writer.signed_varint(5);
  writer.varint(run(7));
  const Pattern pattern = decode<1>(bytes).value();
  EXPECT_EQ(pattern.span(), (Interval{5, 12}));
  EXPECT_TRUE(pattern.shape().is_run());
}

TEST(Encode, OtherVersionsAndFeaturesAreRefused) {
  Bytes bytes = encode(Pattern::run({{3}}, 4).value());
  bytes[0] = std::byte{7};
  expect_refused(bytes, Code::kIntegrity, "version 7");
  bytes[0] = std::byte{kEncodingVersion};
  bytes[1] = std::byte{0x41};
  expect_refused(bytes, Code::kIntegrity, "flags 65");
  expect_refused(encode(Trace<2>::run({{0, 0}}, 4).value()), Code::kIntegrity, "2 coordinates");
  bytes[1] = std::byte{1};
  bytes.push_back(std::byte{0});
  expect_refused(bytes, Code::kIntegrity, "1 unexpected bytes");
  expect_refused({}, Code::kIntegrity, "truncated");
}

TEST(Encode, EveryTruncationIsRefused) {
  Engine engine(model::seed());
  for (int i = 0; i < model::rounds(200); ++i) {
    SCOPED_TRACE(model::seed_note(i));
    const Bytes bytes = encode(random_clipped<1>(engine));
    for (size_t size = 0; size < bytes.size(); ++size) {
      expect_refused(ByteView(bytes).first(size), Code::kIntegrity, "encoded pattern");
    }
  }
}

template <int D>
void flip_every_bit(Engine& engine) {
  Bytes bytes = encode(random_clipped<D>(engine));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto mask = std::byte{static_cast<uint8_t>(1U << bit % 8)};
    bytes[bit / 8] ^= mask;
    expect_sound<D>(bytes);
    bytes[bit / 8] ^= mask;
  }
}

TEST(Encode, EveryFlippedBitIsAnErrorOrSound) {
  Engine engine(model::seed());
  for (int i = 0; i < model::rounds(150); ++i) {
    SCOPED_TRACE(model::seed_note(i));
    flip_every_bit<1>(engine);
    flip_every_bit<2>(engine);
    if (HasFailure()) return;
  }
}

TEST(Encode, RandomBytesAreAnErrorOrSound) {
  Engine engine(model::seed());
  for (int i = 0; i < model::rounds(20'000); ++i) {
    SCOPED_TRACE(model::seed_note(i));
    Bytes bytes = {std::byte{kEncodingVersion}, std::byte{static_cast<uint8_t>(1 + i % 2)}};
    for (int64_t n = uniform(engine, 0, 40); n > 0; --n) {
      bytes.push_back(static_cast<std::byte>(uniform(engine, 0, uniform(engine, 0, 255))));
    }
    expect_sound<1>(bytes);
    expect_sound<2>(bytes);
    if (HasFailure()) return;
  }
}

TEST(Encode, CountOfFourGigabytesIsRefused) {
  for (const uint64_t items : {uint64_t{1} << 32, uint64_t{1} << 61}) {
    Bytes bytes = encoding([&](ByteWriter& writer) {
      writer.varint(zigzag(0));
      writer.varint(uniform_sequence(items));
    });
    bytes.resize(40, std::byte{4});
    expect_refused(bytes, Code::kIntegrity, "items announced");
  }
}

TEST(Encode, DeepNestingIsRefused) {
  const Bytes repeats = encoding([](ByteWriter& writer) {
    for (int level = 0; level < 10'000; ++level) {
      writer.varint(zigzag(3));
      writer.varint(repeated(2));
    }
  });
  expect_refused(repeats, Code::kIntegrity, "levels deep");
  const Bytes sequences = encoding([](ByteWriter& writer) {
    writer.varint(zigzag(0));
    for (int level = 0; level < 10'000; ++level) writer.varint(sequence(2));
  });
  expect_refused(sequences, Code::kIntegrity, "levels deep");
}

// Copies that touch would have to be turned around at every level.
TEST(Encode, FormsThatAreNotMaximalAreRefused) {
  expect_refused(encoding([](ByteWriter& writer) {
                   for (const uint64_t n : {zigzag(0), repeated(9), zigzag(4), run(4)}) {
                     writer.varint(n);
                   }
                 }),
                 Code::kIntegrity, "continue each other");
  expect_refused(encoding([](ByteWriter& writer) {
                   for (const uint64_t n : {zigzag(0), sequence(2), run(4), run(2), zigzag(0)}) {
                     writer.varint(n);
                   }
                 }),
                 Code::kIntegrity, "continue each other");
  expect_refused(encoding([](ByteWriter& writer) {
                   for (const uint64_t n : {zigzag(0), sequence(2), sequence(2), run(4), run(2),
                                            zigzag(1), run(1), zigzag(1)}) {
                     writer.varint(n);
                   }
                 }),
                 Code::kIntegrity, "sequence inside");
  expect_refused(encoding([](ByteWriter& writer) {
                   for (const uint64_t n : {zigzag(0), repeated(2), zigzag(9), reference(0)}) {
                     writer.varint(n);
                   }
                 }),
                 Code::kIntegrity, "reference");
}

TEST(Encode, OverflowIsRefused) {
  const auto top = static_cast<uint64_t>(kMaxPosition);
  const std::vector<std::vector<uint64_t>> bodies = {
      {zigzag(1), run(top)},
      {zigzag(-kMaxPosition - 1), run(1)},
      {zigzag(0), repeated(top), zigzag(8), run(4)},
      {zigzag(0), repeated(3), zigzag(kMaxPosition), run(1)},
      {zigzag(0), repeated(2), zigzag(-kMaxPosition - 1), run(1)},
      {zigzag(0), sequence(2), run(top), run(1), zigzag(1)},
      {zigzag(0), uniform_sequence(2), run(top), zigzag(-kMaxPosition)},
      {zigzag(0), uniform_sequence(3), run(1), zigzag(kMaxPosition), zigzag(kMaxPosition)},
      {zigzag(0), uniform_sequence(3), run(top / 2), zigzag(-kMaxPosition), zigzag(-9)},
      {zigzag(0), uniform_sequence(3), run(1), zigzag(kMaxPosition / 2), zigzag(-kMaxPosition - 9)},
  };
  for (const auto& body : bodies) {
    const Bytes bytes = encoding([&](ByteWriter& writer) {
      for (const uint64_t number : body) writer.varint(number);
    });
    expect_refused(bytes, Code::kIntegrity, "2^62");
  }
}

// Each level refers to the one before eight times: 8^level items in 11 bytes a level.
Bytes bomb(int levels) {
  return encoding([&](ByteWriter& writer) {
    writer.varint(zigzag(0));
    for (int level = 0; level < levels; ++level) {
      writer.varint(repeated(2));
      writer.varint(zigzag((int64_t{1} << 4 * (levels - level)) + 1));
      writer.varint(uniform_sequence(8));
    }
    writer.varint(run(1));
    for (int level = 0; level < levels; ++level) {
      for (int i = 0; i < 7; ++i) writer.varint(zigzag(1 + i * i));
    }
  });
}

TEST(Encode, WhatReferencesMultiplyIsLimited) {
  EXPECT_TRUE(decode<1>(bomb(3)).has_value());
  expect_refused(bomb(12), Code::kTooComplex, "items");
}

TEST(Encode, AlikeIsWhatDiffersInItsPlace) {
  const Pattern run = Pattern::run({{1000}}, 8).value();
  const Pattern rows = repeat(run, 5, Point<1>{{100}}).value();
  const Bytes encoded = encode(rows);
  for (const int64_t by : {int64_t{0}, int64_t{7}, int64_t{-1000}, kMaxPosition / 2}) {
    const Pattern moved = rows.shifted({{by}}).value();
    const auto alike = decode_alike(encode(moved), rows, encoded);
    ASSERT_TRUE(alike) << by;
    EXPECT_EQ(alike->at(), moved.at());
    EXPECT_EQ(alike->shape().node, rows.shape().node);
  }
  const Pattern longer = repeat(run, 6, Point<1>{{100}}).value();
  EXPECT_FALSE(decode_alike(encode(longer), rows, encoded));
  EXPECT_FALSE(decode_alike(encode(run), rows, encoded));
  EXPECT_FALSE(decode_alike(encode(Pattern()), rows, encoded));
  for (size_t length = 0; length < encoded.size(); ++length) {
    EXPECT_FALSE(decode_alike(std::span(encoded).first(length), rows, encoded));
  }
  // Its last byte would lie behind what can be named.
  Bytes outside;
  ByteWriter writer(outside);
  writer.bytes(std::span(encoded).first(2));
  writer.signed_varint(kMaxPosition - 1);
  writer.bytes(std::span(encoded).subspan(4));
  EXPECT_FALSE(decode_alike(outside, rows, encoded));
}

TEST(Encode, LimitsHold) {
  const Bytes bytes = bomb(3);
  EXPECT_EQ(decode<1>(bytes, {5, 1 << 20}).error().code, Code::kTooComplex);
  EXPECT_TRUE(decode<1>(bytes, {6, 1 << 20}).has_value());
  EXPECT_EQ(decode<1>(bytes, {6, 100}).error().code, Code::kTooComplex);
}

}  // namespace
}  // namespace tessera::pattern
