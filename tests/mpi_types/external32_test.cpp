// external32 of predefined types against MPI_Pack_external, as far as both MPIs pack them as the
// standard says (external32_codec_test.cpp has the others), and of derived types against their type
// maps: MPI_Pack_external_size ends the program for some types in MPICH.
#include "tessera/mpiio/external32.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_types.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/types.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mpiio {
namespace {

using base::Bytes;

constexpr int kRandomTypes = 1000;

// Left out: wide characters and pairs, which abort MPICH; Fortran's complex numbers, whose parts it
// exchanges; long doubles, which Open MPI does not convert; and longs, which it counts with 8 bytes
// and packs into 4, also where it has one behind another name.
bool is_packed_well(const std::string& name) {
  if (name.find(' ') != std::string::npos) return false;  // derived
  for (const char* each : {"LONG_DOUBLE", "WCHAR", "FLOAT_INT", "DOUBLE_INT", "LONG_INT",
                           "SHORT_INT", "2INT", "2REAL", "2DOUBLE", "REAL16", "COMPLEX", "f90"}) {
    if (name.find(each) != std::string::npos) return false;
  }
  return name != "MPI_LONG" && name != "MPI_UNSIGNED_LONG";
}

std::vector<Sample> well_packed() {
  std::vector<Sample> samples;
  for (const NamedType& named : predefined_types()) {
    if (!is_packed_well(named.name)) continue;
    Sample sample{named.type, {}, {}, named.name};
    const auto size = static_cast<int>(extent_of(named.type));
    for (int i = 0; i < size; ++i) sample.bytes.push_back(i);
    sample.widths.assign(sample.bytes.size(), size);
    samples.push_back(sample);
  }
  return samples;
}

// A buffer around address 0 of a sample, and where that is in it.
struct Memory {
  std::vector<unsigned char> bytes;
  int64_t origin = 0;

  [[nodiscard]] unsigned char* base() { return bytes.data() + origin; }
};

Memory memory_for(const Sample& sample, int copies) {
  int64_t low = 0;
  int64_t high = 1;
  for (const int64_t byte : sample.bytes) {
    for (int i = 0; i < copies; ++i) {
      low = std::min(low, byte + i * extent_of(sample.type));
      high = std::max(high, byte + i * extent_of(sample.type) + 1);
    }
  }
  return {std::vector<unsigned char>(static_cast<size_t>(high - low)), -low};
}

Bytes packed_by_mpi(const void* memory, int copies, MPI_Datatype type) {
  MPI_Aint size = 0;
  EXPECT_EQ(MPI_Pack_external_size("external32", copies, type, &size), MPI_SUCCESS);
  Bytes packed(static_cast<size_t>(size));
  MPI_Aint position = 0;
  EXPECT_EQ(MPI_Pack_external("external32", memory, copies, type, packed.data(), size, &position),
            MPI_SUCCESS);
  packed.resize(static_cast<size_t>(position));
  return packed;
}

// Every number of the type map with its bytes reversed.
Bytes reversed_numbers(Memory& memory, int copies, const Sample& sample) {
  Bytes result;
  for (int copy = 0; copy < copies; ++copy) {
    for (size_t i = 0; i < sample.bytes.size(); i += static_cast<size_t>(sample.widths[i])) {
      for (auto j = static_cast<size_t>(sample.widths[i]); j-- > 0;) {
        const int64_t at = sample.bytes[i + j] + copy * extent_of(sample.type);
        result.push_back(static_cast<std::byte>(memory.base()[at]));
      }
    }
  }
  return result;
}

void expect_external32(port::SeededRandom& random, const Sample& sample, int copies) {
  Memory memory = memory_for(sample, copies);
  random.fill(std::as_writable_bytes(std::span(memory.bytes)));
  const auto external = to_external32(memory.base(), copies, sample.type);
  ASSERT_TRUE(external) << external.error().message();
  ASSERT_EQ(*external, reversed_numbers(memory, copies, sample));
  if (is_packed_well(sample.story)) {
    ASSERT_EQ(*external, packed_by_mpi(memory.base(), copies, sample.type));
  }
  EXPECT_EQ(external32_size(copies, sample.type).value(), static_cast<int64_t>(external->size()));

  Memory back = memory_for(sample, copies);
  const auto converted = from_external32(*external, back.base(), copies, sample.type);
  ASSERT_TRUE(converted) << converted.error().message();
  EXPECT_EQ(*converted, static_cast<int64_t>(external->size()));
  Memory expected = memory_for(sample, copies);
  for (int i = 0; i < copies; ++i) {
    for (const int64_t byte : sample.bytes) {
      const int64_t at = byte + i * extent_of(sample.type);
      expected.base()[at] = memory.base()[at];
    }
  }
  EXPECT_EQ(back.bytes, expected.bytes);
}

TEST(External32, PredefinedTypesAreAsMpiPacksThem) {
  port::SeededRandom random(port::test_seed());
  const std::vector<Sample> samples = well_packed();
  EXPECT_GT(samples.size(), 30U);
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.story);
    expect_external32(random, sample, 5);
  }
}

TEST(External32, RandomTypesAreTheirNumbersReversed) {
  const uint64_t seed = port::test_seed();
  port::SeededRandom random(seed);
  RandomTypes types(seed, well_packed(), Corners::kAll);
  for (int i = 0; i < kRandomTypes && !::testing::Test::HasFailure(); ++i) {
    const Sample& sample = types.next();
    SCOPED_TRACE("type " + std::to_string(i) + ":" + sample.story);
    expect_external32(random, sample, 2);
  }
}

TEST(External32, SizesInFilesAreTheStandards) {
  EXPECT_EQ(external32_size(3, MPI_LONG).value(), 12);
  EXPECT_EQ(external32_size(3, MPI_UNSIGNED_LONG).value(), 12);
  EXPECT_EQ(external32_size(3, MPI_WCHAR).value(), 6);
  EXPECT_EQ(external32_size(3, MPI_LONG_DOUBLE).value(), 48);
  EXPECT_EQ(external32_size(3, MPI_LONG_INT).value(), 24);
  EXPECT_EQ(external32_size(3, MPI_SHORT_INT).value(), 18);
  EXPECT_FALSE(external32_size(-1, MPI_INT));
}

TEST(External32, PairsAndLongsComeBack) {
  struct {
    long value;
    int index;
  } pairs[2] = {{-5, 7}, {0x7fffffff, -1}}, found[2] = {};
  const auto external = to_external32(pairs, 2, MPI_LONG_INT);
  ASSERT_TRUE(external);
  const unsigned char expected[] = {0xff, 0xff, 0xff, 0xfb, 0,    0,    0,    7,
                                    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  EXPECT_TRUE(base::equal(*external, std::as_bytes(std::span(expected))));
  EXPECT_EQ(from_external32(*external, found, 2, MPI_LONG_INT).value(), 16);
  EXPECT_EQ(found[0].value, -5);
  EXPECT_EQ(found[0].index, 7);
  EXPECT_EQ(found[1].value, 0x7fffffff);
  // A file that ends inside the second pair.
  found[1].value = found[1].index = 9;
  EXPECT_EQ(from_external32(base::ByteView(*external).first(15), found, 2, MPI_LONG_INT).value(),
            12);
  EXPECT_EQ(found[1].value, 0x7fffffff);
  EXPECT_EQ(found[1].index, 9);
}

TEST(External32, NumbersThatDoNotFitAreConversionErrors) {
  const long large = 1L << 40;
  const auto refused = to_external32(&large, 1, MPI_LONG);
  ASSERT_FALSE(refused);
  EXPECT_EQ(class_of(refused.error()), MPI_ERR_CONVERSION);
}

// Positions in elements follow the sizes in the file, those in bytes do not.
TEST(External32, LayoutsInFilesFollowTheSizesThere) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 5, MPI_LONG, &vector);
  const auto native = convert(vector).value();
  const auto external = convert(vector, Representation::kExternal32).value();
  EXPECT_EQ(native->layout.extent, (2 * 5 + 2) * 8);
  EXPECT_EQ(external->layout.extent, (2 * 5 + 2) * 4);
  EXPECT_EQ(external->layout.size(), 24);
  EXPECT_EQ(external->layout.bytes.position(8)[0], 20);
  EXPECT_EQ(convert(vector, Representation::kExternal32).value(), external);
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_LONG, 0, 24, &spread);
  EXPECT_EQ(convert(spread, Representation::kExternal32).value()->layout.extent, 24);
  EXPECT_EQ(convert(spread, Representation::kExternal32).value()->layout.size(), 4);
  MPI_Type_free(&spread);
  MPI_Type_free(&vector);
  EXPECT_EQ(convert(MPI_DOUBLE, Representation::kExternal32).value(), convert(MPI_DOUBLE).value());
}

}  // namespace
}  // namespace tessera::mpiio
