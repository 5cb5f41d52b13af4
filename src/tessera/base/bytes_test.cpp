#include "tessera/base/bytes.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <random>

namespace tessera::base {
namespace {

Bytes make(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes varint_of(uint64_t value) {
  Bytes bytes;
  ByteWriter(bytes).varint(value);
  return bytes;
}

uint64_t seed() {
  const char* text = std::getenv("TESSERA_SEED");
  const uint64_t value = text != nullptr ? std::strtoull(text, nullptr, 0) : std::random_device{}();
  std::printf("TESSERA_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

TEST(Bytes, WordsAreLittleEndianAndNeedNoAlignment) {
  Bytes bytes(11);
  store_le<uint16_t>(std::span(bytes).subspan(1), 0x0102);
  store_le<uint64_t>(std::span(bytes).subspan(3), 0x1112131415161718);
  EXPECT_EQ(bytes, make({0, 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11}));
  EXPECT_EQ(load_le<uint16_t>(std::span(bytes).subspan(1)), 0x0102);
  EXPECT_EQ(load_le<uint32_t>(std::span(bytes).subspan(3)), 0x15161718U);
  EXPECT_EQ(load_le<uint64_t>(std::span(bytes).subspan(3)), 0x1112131415161718U);
}

TEST(BytesDeathTest, LoadPastTheEndStops) {
  EXPECT_DEATH(static_cast<void>(load_le<uint32_t>(make({1, 2, 3}))), "assertion failed");
}

TEST(Bytes, ReaderReturnsWhatWriterWrote) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.u8(7);
  writer.u16(0xbeef);
  const size_t hole = writer.position();
  writer.u32(0);
  writer.u64(0x0123456789abcdef);
  writer.signed_varint(-70000);
  writer.sized_bytes(bytes_of("tile"));
  writer.patch_u32(hole, 0xcafe0001);

  ByteReader reader(bytes);
  EXPECT_EQ(reader.u8().value(), 7);
  EXPECT_EQ(reader.u16().value(), 0xbeef);
  EXPECT_EQ(reader.u32().value(), 0xcafe0001);
  EXPECT_EQ(reader.u64().value(), 0x0123456789abcdefU);
  EXPECT_EQ(reader.signed_varint().value(), -70000);
  EXPECT_FALSE(reader.expect_end());
  EXPECT_EQ(text_of(reader.sized_bytes().value()), "tile");
  EXPECT_TRUE(reader.expect_end());
}

TEST(Bytes, TruncationIsAResultAndMovesNothing) {
  const Bytes bytes = make({1, 2, 3});
  ByteReader reader(bytes);
  ASSERT_FALSE(reader.u32());
  EXPECT_EQ(reader.u32().error().code, Code::kIntegrity);
  EXPECT_EQ(reader.u32().error().context, "truncated at byte 0: 4 bytes are needed, 3 are left");
  EXPECT_FALSE(reader.bytes(std::numeric_limits<uint64_t>::max()));
  EXPECT_EQ(reader.position(), 0U);
  EXPECT_EQ(reader.u16().value(), 0x0201);
}

TEST(Bytes, SizedBytesLongerThanTheRestMoveNothing) {
  const Bytes bytes = make({5, 'a', 'b'});
  ByteReader reader(bytes);
  EXPECT_FALSE(reader.sized_bytes());
  EXPECT_EQ(reader.position(), 0U);
}

TEST(Bytes, VarintsHaveTheirKnownForms) {
  EXPECT_EQ(varint_of(0), make({0}));
  EXPECT_EQ(varint_of(127), make({0x7f}));
  EXPECT_EQ(varint_of(128), make({0x80, 0x01}));
  EXPECT_EQ(varint_of(300), make({0xac, 0x02}));
  EXPECT_EQ(varint_of(std::numeric_limits<uint64_t>::max()),
            make({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));
}

TEST(Bytes, VarintsOutsideTheCanonicalFormAreRefused) {
  const Bytes refused[] = {
      make({}),
      make({0x80}),
      make({0x80, 0x00}),
      make({0xff, 0x80, 0x00}),
      make({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}),
      make({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00}),
      make({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}),
  };
  for (const Bytes& bytes : refused) {
    ByteReader reader(bytes);
    const auto value = reader.varint();
    ASSERT_FALSE(value) << *value;
    EXPECT_EQ(value.error().code, Code::kIntegrity);
    EXPECT_EQ(reader.position(), 0U);
  }
}

TEST(Bytes, ZigzagKeepsSmallMagnitudesSmall) {
  EXPECT_EQ(zigzag(0), 0U);
  EXPECT_EQ(zigzag(-1), 1U);
  EXPECT_EQ(zigzag(1), 2U);
  EXPECT_EQ(zigzag(std::numeric_limits<int64_t>::min()), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(unzigzag(std::numeric_limits<uint64_t>::max()), std::numeric_limits<int64_t>::min());
}

TEST(Bytes, RandomNumbersOfEveryWidthReturn) {
  std::mt19937_64 random(seed());
  for (int i = 0; i < 20000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    const Bytes encoded = varint_of(value);
    ASSERT_EQ(ByteReader(encoded).varint().value(), value);
    ASSERT_EQ(unzigzag(zigzag(static_cast<int64_t>(value))), static_cast<int64_t>(value));
  }
}

TEST(Bytes, EveryAcceptedVarintIsTheEncodingOfItsValue) {
  std::mt19937_64 random(seed());
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(random() % 12);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 3 * 0x7f + random() % 2);
    ByteReader reader(bytes);
    const auto value = reader.varint();
    if (!value) continue;
    ++accepted;
    const Bytes again = varint_of(*value);
    ASSERT_TRUE(equal(again, ByteView(bytes).first(reader.position())));
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace tessera::base
