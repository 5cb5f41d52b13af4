// Datatypes as patterns against what the running MPI packs.
//
// The oracle: MPI packs a buffer whose bytes name their own positions, so the packed bytes tell the
// type map, byte by byte and in order.
#include "tessera/mpiio/types.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

#include "random_types.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mpiio {
namespace {

constexpr int kRandomTypes = 3000;

struct Bounds {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

Bounds bounds_of(MPI_Datatype type) {
  Bounds bounds;
  MPI_Type_get_extent_x(type, &bounds.lower, &bounds.extent);
  return bounds;
}

Bounds true_bounds_of(MPI_Datatype type) {
  Bounds bounds;
  MPI_Type_get_true_extent_x(type, &bounds.lower, &bounds.extent);
  return bounds;
}

// The positions of all bytes, relative to the buffer's address.
std::vector<int64_t> packed_positions(MPI_Datatype type) {
  const Bounds reach = true_bounds_of(type);
  const int64_t begin = reach.lower;
  const int64_t end = reach.lower + reach.extent;
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  std::vector<int64_t> positions(static_cast<size_t>(bytes), begin);
  for (int digit = 0; digit < 3; ++digit) {
    std::vector<unsigned char> memory(static_cast<size_t>(end - begin) + 1);
    for (size_t i = 0; i < memory.size(); ++i) {
      memory[i] = static_cast<unsigned char>(i >> (8 * digit));
    }
    std::vector<unsigned char> packed(positions.size() + 64);
    int position = 0;
    EXPECT_EQ(MPI_Pack(memory.data() - begin, 1, type, packed.data(),
                       static_cast<int>(packed.size()), &position, MPI_COMM_SELF),
              MPI_SUCCESS);
    EXPECT_EQ(position, bytes);
    for (size_t i = 0; i < positions.size(); ++i) {
      positions[i] += int64_t{packed[i]} << (8 * digit);
    }
  }
  return positions;
}

std::vector<int64_t> positions_of(const pattern::Pattern& bytes) {
  std::vector<int64_t> positions;
  for (const auto& run : pattern::expand(bytes)) {
    for (int64_t i = 0; i < run.length; ++i) positions.push_back(run.at[0] + i);
  }
  return positions;
}

// Checks the bytes of 0, 1 and 3 copies, in order, and the bounds.
void expect_converted(MPI_Datatype type, const std::vector<int64_t>& bytes) {
  const auto converted = convert(type);
  ASSERT_TRUE(converted) << converted.error().message();
  const pattern::Datatype& layout = (*converted)->layout;
  layout.bytes.check_invariants();
  EXPECT_EQ((Bounds{layout.lower_bound, layout.extent}), bounds_of(type));
  for (const int count : {0, 1, 3}) {
    std::vector<int64_t> expected;
    for (int i = 0; i < count; ++i) {
      for (const int64_t position : bytes) expected.push_back(position + i * layout.extent);
    }
    const auto copies = memory_pattern(**converted, count);
    ASSERT_TRUE(copies) << copies.error().message();
    ASSERT_EQ(positions_of(*copies), expected) << count << " copies";
  }
  EXPECT_EQ((*converted)->elements->native_size, layout.size());
}

// Without long doubles: MPICH packs them as numbers, which leaves out their padding.
std::vector<Sample> basic_samples() {
  std::vector<Sample> samples;
  for (const NamedType& named : predefined_types()) {
    if (named.name.find("LONG_DOUBLE") != std::string::npos) continue;
    samples.push_back({named.type, packed_positions(named.type), {}, named.name});
  }
  return samples;
}

TEST(Types, PredefinedTypesAreAsMpiPacksThem) {
  for (const NamedType& named : predefined_types()) {
    SCOPED_TRACE(named.name);
    expect_converted(named.type, packed_positions(named.type));
  }
}

TEST(Types, RandomTypesAreAsMpiPacksThem) {
  RandomTypes types(port::test_seed(), basic_samples(), Corners::kOnlySafe);
  for (int i = 0; i < kRandomTypes && !HasFailure(); ++i) {
    Sample sample = types.next();
    SCOPED_TRACE("type " + std::to_string(i) + ":" + sample.story);
    MPI_Type_commit(&sample.type);
    EXPECT_EQ(packed_positions(sample.type), sample.bytes);
    expect_converted(sample.type, sample.bytes);
  }
}

TEST(Types, RandomTypesAreAsTheStandardDefinesThem) {
  RandomTypes types(port::test_seed(), basic_samples(), Corners::kAll);
  for (int i = 0; i < kRandomTypes && !HasFailure(); ++i) {
    const Sample& sample = types.next();
    SCOPED_TRACE("type " + std::to_string(i) + ":" + sample.story);
    expect_converted(sample.type, sample.bytes);
  }
}

TEST(Types, ATypeIsConvertedOnceAndItsDuplicateNever) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &type);
  const auto first = convert(type).value();
  EXPECT_EQ(convert(type).value(), first);
  MPI_Datatype kept = keep_type(type);
  EXPECT_NE(kept, type);
  MPI_Type_free(&type);
  EXPECT_EQ(convert(kept).value(), first);
  EXPECT_GT(first.use_count(), 1);
  drop_type(kept);
  EXPECT_EQ(kept, MPI_DATATYPE_NULL);
  EXPECT_EQ(first.use_count(), 1);
}

TEST(Types, PredefinedTypesAreKeptAsTheyAre) {
  for (const NamedType& named : predefined_types()) {
    MPI_Datatype kept = keep_type(named.type);
    EXPECT_EQ(kept, named.type) << named.name;
    drop_type(kept);
    EXPECT_EQ(convert(named.type).value(), convert(named.type).value()) << named.name;
  }
}

TEST(Types, NullIsRefused) {
  const auto refused = convert(MPI_DATATYPE_NULL);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kInvalid);
}

TEST(Types, ElementsOfOneSizeAreKnown) {
  const int lengths[] = {2, 1};
  const MPI_Aint places[] = {0, 16};
  const MPI_Datatype even[] = {MPI_INT, MPI_FLOAT};
  const MPI_Datatype odd[] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, places, even, &type);
  EXPECT_EQ(convert(type).value()->basic_size, 4);
  EXPECT_EQ(convert(type).value()->elements->count, 3);
  MPI_Type_free(&type);
  MPI_Type_create_struct(2, lengths, places, odd, &type);
  EXPECT_EQ(convert(type).value()->basic_size, 0);
  MPI_Type_free(&type);
  EXPECT_EQ(convert(MPI_C_DOUBLE_COMPLEX).value()->basic_size, 16);
  EXPECT_EQ(convert(MPI_SHORT_INT).value()->elements->count, 2);
}

MPI_Datatype irregular_type(int blocks) {
  std::vector<int> lengths;
  std::vector<int> places;
  int place = 0;
  port::SeededRandom random(1);
  for (int i = 0; i < blocks; ++i) {
    lengths.push_back(1 + static_cast<int>(random.uniform(4)));
    places.push_back(place);
    place += lengths.back() + 1 + static_cast<int>(random.uniform(9));
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(blocks, lengths.data(), places.data(), MPI_DOUBLE, &type);
  return type;
}

// Processor time, since others use the machine too; a limit far above what it takes, so that only a
// change of the algorithm can exceed it.
TEST(Types, AHundredThousandBlocksTakeMilliseconds) {
  MPI_Datatype type = irregular_type(100'000);
  const std::clock_t begin = std::clock();
  const auto converted = convert(type);
  const std::clock_t end = std::clock();
  ASSERT_TRUE(converted);
  EXPECT_EQ((*converted)->layout.bytes.runs(), 100'000);
  const double taken_ms = 1000.0 * static_cast<double>(end - begin) / CLOCKS_PER_SEC;
  std::printf("100000 irregular blocks converted in %.1f ms\n", taken_ms);
  EXPECT_LT(taken_ms, 300);
  MPI_Type_free(&type);
}

}  // namespace
}  // namespace tessera::mpiio
