#include "tessera/mpiio/external32_codec.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::mpiio {
namespace {

using base::Bytes;

constexpr Basic kByte{Coding::kReversed, 1, 1, 1};
constexpr Basic kShort{Coding::kReversed, 2, 2, 1};
constexpr Basic kInt{Coding::kReversed, 4, 4, 1};
constexpr Basic kDouble{Coding::kReversed, 8, 8, 1};
constexpr Basic kComplex{Coding::kReversed, 8, 8, 2};
constexpr Basic kLong{Coding::kSigned, 8, 4, 1};
constexpr Basic kUnsignedLong{Coding::kUnsigned, 8, 4, 1};
constexpr Basic kWide{Coding::kUnsigned, 4, 2, 1};
constexpr Basic kLongDouble{Coding::kLongDouble, sizeof(long double), 16, 1};

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

template <typename T>
Bytes memory_of(const T& value) {
  Bytes result(sizeof(T));
  std::memcpy(result.data(), &value, sizeof(T));
  return result;
}

Bytes encoded(const ElementsPtr& elements, const Bytes& native) {
  Bytes external(static_cast<size_t>(elements->external_size));
  const auto result = encode_external32(*elements, native, external);
  EXPECT_TRUE(result) << result.error().message();
  return external;
}

template <typename T>
Bytes encoded(const Basic& basic, T value) {
  return encoded(element(basic), memory_of(value));
}

template <typename T>
T decoded(const Basic& basic, const Bytes& external) {
  Bytes native(sizeof(T), std::byte{0xee});
  const Decoded done = decode_external32(*element(basic), external, native);
  EXPECT_EQ(done.external_bytes, basic.external_size());
  EXPECT_EQ(done.native_bytes, basic.native_size());
  T value;
  std::memcpy(&value, native.data(), sizeof(T));
  return value;
}

TEST(External32Codec, NumbersAreBigEndian) {
  EXPECT_EQ(encoded(kByte, uint8_t{0x12}), bytes({0x12}));
  EXPECT_EQ(encoded(kShort, uint16_t{0x1234}), bytes({0x12, 0x34}));
  EXPECT_EQ(encoded(kInt, 0x12345678), bytes({0x12, 0x34, 0x56, 0x78}));
  EXPECT_EQ(encoded(kDouble, 1.5), bytes({0x3f, 0xf8, 0, 0, 0, 0, 0, 0}));
  const std::array<double, 2> complex{1.5, -2.0};
  EXPECT_EQ(encoded(kComplex, complex),
            bytes({0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ((decoded<std::array<double, 2>>(kComplex, encoded(kComplex, complex))), complex);
}

TEST(External32Codec, IntegersOfFewerBytesKeepTheirValue) {
  for (const int64_t value : {int64_t{0}, int64_t{-1}, int64_t{0x7fffffff}, -int64_t{1} << 31}) {
    EXPECT_EQ(decoded<int64_t>(kLong, encoded(kLong, value)), value);
  }
  EXPECT_EQ(encoded(kLong, int64_t{-2}), bytes({0xff, 0xff, 0xff, 0xfe}));
  EXPECT_EQ(encoded(kUnsignedLong, uint64_t{0xfffffffe}), bytes({0xff, 0xff, 0xff, 0xfe}));
  EXPECT_EQ(decoded<uint64_t>(kUnsignedLong, bytes({0xff, 0xff, 0xff, 0xfe})), 0xfffffffe);
  EXPECT_EQ(encoded(kWide, uint32_t{0x20ac}), bytes({0x20, 0xac}));
  EXPECT_EQ(decoded<uint32_t>(kWide, bytes({0x20, 0xac})), 0x20ac);
}

template <typename T>
bool fits(const Basic& basic, T value) {
  Bytes external(static_cast<size_t>(basic.external_size()));
  const auto result = encode_external32(*element(basic), memory_of(value), external);
  if (!result) {
    EXPECT_EQ(result.error().code, base::Code::kInvalid);
  }
  return result.has_value();
}

TEST(External32Codec, NumbersThatDoNotFitAreRefused) {
  EXPECT_FALSE(fits(kLong, int64_t{0x80000000}));
  EXPECT_FALSE(fits(kLong, -(int64_t{1} << 31) - 1));
  EXPECT_FALSE(fits(kUnsignedLong, uint64_t{0x100000000}));
  EXPECT_FALSE(fits(kWide, uint32_t{0x1f600}));
  EXPECT_TRUE(fits(kWide, uint32_t{0xffff}));
}

TEST(External32Codec, LongDoublesAreQuads) {
  EXPECT_EQ(encoded(kLongDouble, 1.0L),
            bytes({0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encoded(kLongDouble, -2.5L),
            bytes({0xc0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  using Limits = std::numeric_limits<long double>;
  for (const long double value : {0.0L, -0.0L, 1.1L, Limits::max(), Limits::min(),
                                  Limits::denorm_min(), Limits::infinity(), Limits::epsilon()}) {
    const auto back = decoded<long double>(kLongDouble, encoded(kLongDouble, value));
    EXPECT_EQ(back, value);
    EXPECT_EQ(std::signbit(back), std::signbit(value));
  }
  EXPECT_TRUE(
      std::isnan(decoded<long double>(kLongDouble, encoded(kLongDouble, Limits::quiet_NaN()))));
}

// A struct of unequal elements, repeated.
ElementsPtr mixed(int64_t copies) {
  return repeated(sequence({repeated(element(kShort), 2), element(kLong), element(kComplex),
                            repeated(element(kByte), 3), element(kLongDouble)}),
                  copies);
}

constexpr Basic kMixed[] = {kShort, kShort, kLong, kComplex, kByte, kByte, kByte, kLongDouble};

// Numbers that fit, whatever their type.
Bytes random_native(port::SeededRandom& random, int64_t copies) {
  Bytes native;
  for (int64_t i = 0; i < copies; ++i) {
    for (const Basic& basic : kMixed) {
      Bytes number(static_cast<size_t>(basic.native_size()));
      random.fill(number);
      if (basic.coding == Coding::kSigned) {
        number = memory_of(static_cast<int64_t>(static_cast<int32_t>(random.next())));
      }
      if (basic.coding == Coding::kLongDouble) {
        long double value = static_cast<long double>(random.next()) / 3;
        std::memset(number.data(), 0, number.size());
        std::memcpy(number.data(), &value, __LDBL_MANT_DIG__ == 64 ? 10 : sizeof(value));
      }
      native.insert(native.end(), number.begin(), number.end());
    }
  }
  return native;
}

TEST(External32Codec, ListsAreTheirElementsOneByOne) {
  port::SeededRandom random(port::test_seed());
  const ElementsPtr elements = mixed(5);
  const Bytes native = random_native(random, 5);
  ASSERT_EQ(static_cast<int64_t>(native.size()), elements->native_size);
  EXPECT_EQ(elements->count, 40);
  EXPECT_TRUE(elements->resizes);
  EXPECT_EQ(elements->basic_size, 0);
  Bytes expected;
  auto at = native.begin();
  for (int copy = 0; copy < 5; ++copy) {
    for (const Basic& basic : kMixed) {
      const Bytes number(at, at + basic.native_size());
      at += basic.native_size();
      const Bytes one = encoded(element(basic), number);
      expected.insert(expected.end(), one.begin(), one.end());
    }
  }
  EXPECT_EQ(encoded(elements, native), expected);
}

// Cut at every byte: whole elements come back, and nothing behind them is touched.
TEST(External32Codec, APartIsDecodedInWholeElements) {
  port::SeededRandom random(port::test_seed());
  const ElementsPtr elements = mixed(3);
  const Bytes native = random_native(random, 3);
  const Bytes external = encoded(elements, native);
  std::vector<Decoded> ends{{0, 0}};
  for (int copy = 0; copy < 3; ++copy) {
    for (const Basic& basic : kMixed) {
      ends.push_back({ends.back().external_bytes + basic.external_size(),
                      ends.back().native_bytes + basic.native_size()});
    }
  }
  size_t whole = 0;
  for (size_t length = 0; length <= external.size(); ++length) {
    while (whole + 1 < ends.size() &&
           ends[whole + 1].external_bytes <= static_cast<int64_t>(length)) {
      ++whole;
    }
    Bytes back(native.size(), std::byte{0xee});
    const Decoded done = decode_external32(*elements, base::ByteView(external).first(length), back);
    EXPECT_EQ(done.external_bytes, ends[whole].external_bytes);
    EXPECT_EQ(done.native_bytes, ends[whole].native_bytes);
    Bytes expected(native.size(), std::byte{0xee});
    std::copy_n(native.begin(), done.native_bytes, expected.begin());
    EXPECT_EQ(back, expected) << "of " << length << " bytes";
  }
}

TEST(External32Codec, EqualSizesAreConvertedInPlace) {
  const ElementsPtr elements = repeated(element(kInt), 3);
  Bytes buffer = bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Bytes apart = encoded(elements, buffer);
  ASSERT_TRUE(encode_external32(*elements, buffer, buffer));
  EXPECT_EQ(buffer, apart);
  EXPECT_EQ(decode_external32(*elements, buffer, buffer).native_bytes, 12);
  EXPECT_EQ(buffer, bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(Elements, EqualNeighboursJoinAndEmptyOnesVanish) {
  const auto joined = sequence({element(kInt), repeated(element(kInt), 4), repeated(mixed(1), 0)});
  EXPECT_TRUE(joined->parts.empty());
  EXPECT_EQ(joined->copies, 5);
  EXPECT_EQ(joined->basic_size, 4);
  EXPECT_FALSE(joined->resizes);
  EXPECT_EQ(sequence({})->count, 0);
  EXPECT_EQ(repeated(joined, 0)->count, 0);
  EXPECT_EQ(repeated(mixed(2), 3)->count, 48);
}

}  // namespace
}  // namespace tessera::mpiio
