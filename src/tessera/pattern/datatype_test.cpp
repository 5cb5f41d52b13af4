#include "tessera/pattern/datatype.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tessera/pattern/typemap_test_support.hpp"

namespace tessera::pattern {
namespace {

using base::Code;
using base::Result;
using model::Engine;
using model::expect_same;
using model::Typemap;
using model::TypemapEntry;
using model::uniform;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Datatype bytes(int64_t size) { return basic(size).value(); }

// A type beside its type map.
struct Twin {
  Datatype type;
  Typemap map;
};

Twin random_type(Engine& engine, int depth);

Twin random_basic(Engine& engine) {
  const int64_t alignment = int64_t{1} << uniform(engine, 0, 3);
  const int64_t size = uniform(engine, 0, 2) * alignment;
  Twin twin{basic(size, alignment).value(), {}};
  if (size > 0) twin.map.entries = {{TypemapEntry::kBasic, 0, size, alignment}};
  return twin;
}

Twin random_resized(Engine& engine, int depth) {
  Twin twin = random_type(engine, depth - 1);
  const int64_t lower = uniform(engine, -9, 9);
  const int64_t extent = uniform(engine, -4, 20);
  twin.type = resized(twin.type, lower, extent).value();
  twin.map.set_marks(lower, lower + extent);
  return twin;
}

Twin random_vector(Engine& engine, int depth) {
  const Twin of = random_type(engine, depth - 1);
  const Blocks blocks = {uniform(engine, 0, 3), uniform(engine, 0, 3), uniform(engine, -5, 6)};
  const bool in_bytes = uniform(engine, 0, 1) == 0;
  Twin twin;
  twin.type = (in_bytes ? hvector(blocks, of.type) : vector(blocks, of.type)).value();
  for (int64_t i = 0; i < blocks.count; ++i) {
    const int64_t unit = in_bytes ? 1 : of.map.extent();
    twin.map.add_block(blocks.blocklength, i * blocks.stride * unit, of.map);
  }
  return twin;
}

Twin random_contiguous(Engine& engine, int depth) {
  const Twin of = random_type(engine, depth - 1);
  const int64_t count = uniform(engine, 0, 4);
  Twin twin{contiguous(count, of.type).value(), {}};
  twin.map.add_block(count, 0, of.map);
  return twin;
}

Twin random_indexed(Engine& engine, int depth) {
  const Twin of = random_type(engine, depth - 1);
  const bool in_bytes = uniform(engine, 0, 1) == 0;
  std::vector<Block> blocks(static_cast<size_t>(uniform(engine, 0, 4)));
  Twin twin;
  for (Block& block : blocks) {
    block = {uniform(engine, 0, 3), uniform(engine, -6, 8)};
    const int64_t unit = in_bytes ? 1 : of.map.extent();
    twin.map.add_block(block.blocklength, block.displacement * unit, of.map);
  }
  twin.type = (in_bytes ? hindexed(blocks, of.type) : indexed(blocks, of.type)).value();
  return twin;
}

Twin random_indexed_block(Engine& engine, int depth) {
  const Twin of = random_type(engine, depth - 1);
  const bool in_bytes = uniform(engine, 0, 1) == 0;
  const int64_t blocklength = uniform(engine, 0, 3);
  std::vector<int64_t> displacements(static_cast<size_t>(uniform(engine, 0, 4)));
  Twin twin;
  for (int64_t& displacement : displacements) {
    displacement = uniform(engine, -6, 8);
    const int64_t unit = in_bytes ? 1 : of.map.extent();
    twin.map.add_block(blocklength, displacement * unit, of.map);
  }
  twin.type = (in_bytes ? hindexed_block(blocklength, displacements, of.type)
                        : indexed_block(blocklength, displacements, of.type))
                  .value();
  return twin;
}

Twin random_structure(Engine& engine, int depth) {
  std::vector<Member> members(static_cast<size_t>(uniform(engine, 0, 3)));
  Twin twin;
  for (Member& member : members) {
    const Twin of = random_type(engine, depth - 1);
    member = {uniform(engine, 0, 2), uniform(engine, -9, 20), of.type};
    twin.map.add_block(member.blocklength, member.displacement, of.map);
  }
  twin.type = structure(members).value();
  return twin;
}

Twin random_subarray(Engine& engine, int depth) {
  const Twin of = random_type(engine, depth - 1);
  const Order order = uniform(engine, 0, 1) == 0 ? Order::kC : Order::kFortran;
  std::vector<Slice> slices(static_cast<size_t>(uniform(engine, 1, 3)));
  std::vector<int64_t> sizes;
  for (Slice& slice : slices) {
    slice.size = uniform(engine, 1, 4);
    slice.subsize = uniform(engine, 1, slice.size);
    slice.start = uniform(engine, 0, slice.size - slice.subsize);
    sizes.push_back(slice.size);
  }
  const auto chosen = [&](const std::vector<int64_t>& index) {
    for (size_t d = 0; d < slices.size(); ++d) {
      const int64_t from_start = index[d] - slices[d].start;
      if (from_start < 0 || from_start >= slices[d].subsize) return false;
    }
    return true;
  };
  return {subarray(slices, order, of.type).value(),
          model::array_part(sizes, order, of.map, chosen)};
}

Twin random_type(Engine& engine, int depth) {
  if (depth == 0) return random_basic(engine);
  Twin (*const constructors[])(Engine&, int) = {
      random_resized, random_vector,    random_contiguous, random_indexed, random_indexed_block,
      random_indexed, random_structure, random_subarray,   random_vector};
  return constructors[uniform(engine, 0, 8)](engine, depth);
}

TEST(Datatype, ConstructorsFollowTheTypeMap) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(6000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    const Twin twin = random_type(engine, static_cast<int>(uniform(engine, 0, 3)));
    expect_same(twin.type, twin.map);
    if (HasFailure()) return;
  }
}

TEST(Datatype, VectorIsOneRepetition) {
  const Datatype type = vector({1'000'000, 2, 5}, bytes(8)).value();
  ASSERT_TRUE(type.bytes.shape().is_repeat());
  EXPECT_EQ(type.bytes.shape().depth(), 1);
  EXPECT_EQ(type.bytes.runs(), 1'000'000);
  EXPECT_EQ(type.extent, 999'999 * 40 + 16);
}

TEST(Datatype, SubarrayNestsOneRepetitionLessThanDimensions) {
  const std::vector<Slice> slices = {{100, 10, 5}, {100, 20, 5}, {100, 30, 5}, {100, 40, 5}};
  for (const Order order : {Order::kC, Order::kFortran}) {
    const Datatype type = subarray(slices, order, bytes(4)).value();
    EXPECT_EQ(type.bytes.shape().depth(), 3);
    EXPECT_EQ(type.size(), 10 * 20 * 30 * 40 * 4);
    EXPECT_EQ(type.extent, 400'000'000);
  }
}

TEST(Datatype, RegularListIsRecognised) {
  std::vector<int64_t> displacements;
  for (int64_t i = 0; i < 1000; ++i) displacements.push_back(7 * i);
  const Datatype listed = indexed_block(3, displacements, bytes(4)).value();
  const Datatype strided = vector({1000, 3, 7}, bytes(4)).value();
  EXPECT_TRUE(same_shape(listed.bytes.shape(), strided.bytes.shape()));
}

// What the standard says where implementations differ.
TEST(Datatype, MarksOutrankBytes) {
  const Datatype wide = resized(bytes(4), 0, 16).value();
  const std::vector<Member> members = {{1, 0, wide}, {1, 100, bytes(4)}};
  const Datatype type = structure(members).value();
  EXPECT_EQ(type.extent, 16);
  EXPECT_EQ(type.true_bounds(), (Interval{0, 104}));
}

TEST(Datatype, StructIsPaddedToItsAlignment) {
  const std::vector<Member> members = {{1, 0, basic(8, 8).value()}, {1, 8, basic(1, 1).value()}};
  const Datatype type = structure(members).value();
  EXPECT_EQ(type.extent, 16);
  EXPECT_EQ(contiguous(2, type).value().extent, 32);
  EXPECT_EQ(contiguous(2, type).value().true_bounds(), (Interval{0, 25}));
}

void expect_refused(const Result<Datatype>& result, Code code, const std::string& word) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code) << result.error().message();
  EXPECT_NE(result.error().message().find(word), std::string::npos) << result.error().message();
}

TEST(Datatype, NegativeArgumentsAreNamed) {
  const std::vector<Block> blocks = {{1, 0}, {-1, 0}};
  const std::vector<int64_t> displacements = {0};
  expect_refused(basic(-1), Code::kInvalid, "size");
  expect_refused(basic(1, 0), Code::kInvalid, "alignment");
  expect_refused(contiguous(-1, bytes(1)), Code::kInvalid, "contiguous: count");
  expect_refused(vector({-1, 1, 1}, bytes(1)), Code::kInvalid, "vector: count");
  expect_refused(hvector({1, -1, 1}, bytes(1)), Code::kInvalid, "hvector: blocklength");
  expect_refused(indexed(blocks, bytes(1)), Code::kInvalid, "blocklength of block 1");
  expect_refused(hindexed_block(-1, displacements, bytes(1)), Code::kInvalid, "blocklength");
}

TEST(Datatype, SlicesOutsideTheArrayAreNamed) {
  const std::vector<Slice> wrong = {{4, 0, 0},  {4, 5, 0},     {4, 2, 3},  {0, 1, 0},
                                    {4, 2, -1}, {4, 2, kHuge}, {-4, -4, 0}};
  for (const Slice& slice : wrong) {
    const std::vector<Slice> slices = {{4, 4, 0}, slice};
    expect_refused(subarray(slices, Order::kC, bytes(1)), Code::kInvalid, "dimension 1");
  }
  expect_refused(subarray({}, Order::kC, bytes(1)), Code::kInvalid, "no dimensions");
}

TEST(Datatype, OverflowIsRefused) {
  const std::vector<Block> far = {{1, 0}, {1, kHuge / 2}};
  const std::vector<Slice> large(4, Slice{int64_t{1} << 20, 1, (int64_t{1} << 20) - 1});
  expect_refused(contiguous(int64_t{1} << 62, bytes(2)), Code::kInvalid, "contiguous: count");
  expect_refused(vector({int64_t{1} << 40, 1, int64_t{1} << 40}, bytes(1)), Code::kInvalid,
                 "stride");
  expect_refused(vector({2, 1, kHuge}, bytes(8)), Code::kInvalid, "stride");
  expect_refused(hvector({2, 1, -kHuge - 1}, bytes(8)), Code::kInvalid, "stride");
  expect_refused(indexed(far, bytes(8)), Code::kInvalid, "displacement of block 1");
  expect_refused(subarray(large, Order::kC, bytes(1)), Code::kInvalid, "dimension 0");
  expect_refused(resized(bytes(1), kHuge, kHuge), Code::kInvalid, "resized");
  expect_refused(resized(bytes(1), -kHuge - 1, -1), Code::kInvalid, "resized");
  const Datatype stretched = resized(bytes(0), 0, kMaxPosition).value();
  expect_refused(contiguous(3, stretched), Code::kInvalid, "contiguous: count");
  expect_refused(basic(kMaxPosition - 1, 7), Code::kInvalid, "upper bound");
}

TEST(Datatype, HugeCountsOfRegularTypesAreCheap) {
  const int64_t count = int64_t{1} << 40;
  EXPECT_EQ(contiguous(count, bytes(1)).value().bytes.runs(), 1);
  EXPECT_EQ(vector({count, 1, 2}, bytes(1)).value().bytes.runs(), count);
  EXPECT_EQ(vector({1, 1, kHuge}, bytes(8)).value().size(), 8);
  const Datatype spread = resized(bytes(1), 0, 4).value();
  EXPECT_EQ(contiguous(count, spread).value().extent, 4 * count);
}

int64_t random_extreme(Engine& engine) {
  const int64_t pool[] = {0, 1, 2, 3, 7, int64_t{1} << 40, kMaxPosition / 2, kMaxPosition, kHuge};
  const int64_t number = pool[uniform(engine, 0, 8)];
  return uniform(engine, 0, 1) == 0 ? number : uniform(engine, -1, 1) - number;
}

Result<Datatype> random_extreme_type(Engine& engine, const Datatype& type) {
  const int64_t a = random_extreme(engine);
  const int64_t b = random_extreme(engine);
  const int64_t c = random_extreme(engine);
  const std::vector<Block> blocks = {
      {uniform(engine, 0, 2), a}, {uniform(engine, 0, 2), b}, {1, c}};
  const std::vector<Slice> slices = {{a, uniform(engine, 1, 2), c}, {b, uniform(engine, 1, 2), 0}};
  const std::vector<Member> members = {{1, a, type}, {1, b, basic(3, 8).value()}, {1, c, type}};
  switch (uniform(engine, 0, 6)) {
    case 0:
      return resized(type, a, b);
    case 1:
      return contiguous(a, type);
    case 2:
      return vector({a, uniform(engine, 0, 2), b}, type);
    case 3:
      return hvector({uniform(engine, 0, 2), a, b}, type);
    case 4:
      return uniform(engine, 0, 1) == 0 ? indexed(blocks, type) : hindexed(blocks, type);
    case 5:
      return subarray(slices, Order::kFortran, type);
    default:
      return structure(members);
  }
}

// Sanitizers watch for wrapped arithmetic here.
TEST(Datatype, ExtremeArgumentsAreRefusedOrExact) {
  Engine engine(model::seed());
  Datatype type = bytes(4);
  for (int round = 0; round < model::rounds(20'000); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    if (uniform(engine, 0, 4) == 0) type = bytes(uniform(engine, 1, 4));
    const auto next = random_extreme_type(engine, type);
    if (!next) continue;
    type = *next;
    type.bytes.check_invariants();
    EXPECT_EQ(type.upper_bound() - type.extent, type.lower_bound);
    if (type.bytes.empty()) continue;
    EXPECT_EQ(type.bytes.position(type.size() - 1).advanced(1), type.bytes.end());
    EXPECT_LE(type.true_bounds().begin, type.bytes.at()[0]);
  }
}

// Types of one copy collapse; types of several overflow after some 60 levels, or are too irregular.
TEST(Datatype, DeepNestingIsBounded) {
  Datatype single = vector({3, 1, 2}, bytes(4)).value();
  const std::vector<Block> one = {{1, 0}};
  for (int level = 0; level < 10'000; ++level) {
    single = contiguous(1, vector({1, 1, 9}, single).value()).value();
    single = resized(indexed(one, single).value(), 0, 20).value();
  }
  EXPECT_EQ(single.bytes.shape().depth(), 1);

  Result<Datatype> doubled = vector({2, 1, 3}, bytes(1));
  int levels = 1;
  for (; levels < 10'000 && doubled; ++levels) doubled = vector({2, 1, 3}, *doubled);
  EXPECT_LT(levels, 64);
  EXPECT_EQ(doubled.error().code, Code::kInvalid);
}

TEST(Datatype, IrregularInsideIrregularIsBounded) {
  const std::vector<Block> uneven = {{1, 0}, {1, 3}, {1, 4}, {1, 9}, {1, 11}, {1, 20}, {1, 22}};
  Result<Datatype> type = indexed(uneven, bytes(1));
  int levels = 1;
  for (; levels < 10'000 && type; ++levels) type = indexed(uneven, *type);
  expect_refused(type, Code::kTooComplex, "indexed");
  EXPECT_LT(levels, 12);
}

}  // namespace
}  // namespace tessera::pattern
