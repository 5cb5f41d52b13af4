#include "tessera/map/map_codec.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tessera/base/crc32c.hpp"
#include "tessera/map/file_map_test_support.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::map {
namespace {

using base::Bytes;
using base::ByteWriter;
using base::Code;
using pattern::ByteSet;
using pattern::Interval;
using pattern::Join;
using pattern::Pattern;

ByteSet run(int64_t begin, int64_t end) { return ByteSet::of(Interval{begin, end}).value(); }

ByteSet strided(int64_t begin, int64_t length, int64_t stride, int64_t count) {
  return ByteSet::of(repeat(Pattern::run({{begin}}, length).value(), count, {{stride}}).value())
      .value();
}

Join pairs(int64_t begin, int64_t place, int64_t length) {
  return Join::run({{begin, place}}, length).value();
}

// One list of pairs with one epoch.
struct List {
  AllocationId allocation = 0;
  uint64_t epoch = 0;
  Join pairs;
};

Bytes sealed(Bytes content) {
  ByteWriter(content).u32(base::crc32c(content));
  return content;
}

void write_lists(const std::vector<List>& lists, ByteWriter& to) {
  to.varint(lists.size());
  for (const List& list : lists) {
    to.signed_varint(list.allocation);
    to.varint(1);
    to.varint(1);
    to.signed_varint(static_cast<int64_t>(list.epoch));
    to.sized_bytes(pattern::encode(list.pairs));
  }
}

Bytes map_of(const std::vector<List>& visible, const std::vector<List>& replicas,
             uint8_t flags = 0) {
  Bytes content;
  ByteWriter to(content);
  to.u8(kMapVersion);
  to.u8(flags);
  if (flags == 1) to.sized_bytes(base::bytes_of("something newer"));
  to.varint(7);
  write_lists(visible, to);
  write_lists(replicas, to);
  return sealed(content);
}

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[std::to_integer<size_t>(byte) >> 4];
    text += kDigits[std::to_integer<size_t>(byte) & 15];
  }
  return text;
}

Bytes unhex(const std::string& text) {
  Bytes bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// A strided write, a run of another allocation that hides part of it later, and a replica.
FileMap example() {
  FileMap map;
  EXPECT_TRUE(map.add({strided(0, 10, 100, 50), 1, 4096, 5}));
  EXPECT_TRUE(map.add({run(205, 1000), 2, 0, 6}));
  EXPECT_TRUE(map.add_replica({run(300, 400), 1, 8192, 6}));
  return map;
}

// The bytes that version 1 writes, and that every later version must read.
constexpr const char* kExample =
    "010006020201010a1c0102008040122424b401b30110b401b3019901c801b30124b60c9f0b0401010c0801029a03"
    "9903e818010201010c080102d804a87b8c03fc99a75b";

TEST(MapCodec, ReadsWhatTheFirstVersionWrote) {
  ASSERT_EQ(hex(encode(example())), kExample);
  const FileMap map = decode(unhex(kExample)).value();
  map.check_invariants();
  EXPECT_EQ(map.epoch_max(), 6U);
  EXPECT_EQ(map.allocations(), (std::vector<AllocationId>{1, 2}));
  EXPECT_EQ(map.live_bytes(1), 425 + 100);
  EXPECT_EQ(map.live_bytes(2), 795);
  const Found found = map.find(run(200, 210)).value();
  ASSERT_EQ(found.parts.size(), 2U);
  EXPECT_EQ(found.parts[0].places.at()[0], 4096 + 20);
  EXPECT_EQ(found.parts[1].places.at()[0], 0);
  EXPECT_EQ(map.find_whole(run(310, 390), 1)->places.at()[0], 8192 + 10);
}

TEST(MapCodec, EmptyMap) {
  const FileMap map = decode(encode(FileMap())).value();
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.epoch_max(), 0U);
}

TEST(MapCodec, FindsEveryFlippedBitAndEveryCut) {
  const Bytes bytes = encode(example());
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    Bytes flipped = bytes;
    flipped[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
    EXPECT_EQ(decode(flipped).error().code, Code::kIntegrity);
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(decode(base::ByteView(bytes).first(size)).error().code, Code::kIntegrity);
  }
}

TEST(MapCodec, SkipsFieldsAndRefusesFeaturesThatItDoesNotKnow) {
  const std::vector<List> lists = {{3, 7, pairs(0, 0, 10)}};
  EXPECT_EQ(decode(map_of(lists, {}, 1))->covered_bytes(), 10);
  EXPECT_EQ(decode(map_of(lists, {}, 2)).error().code, Code::kIntegrity);
  Bytes newer = encode(example());
  newer.resize(newer.size() - 4);
  newer[0] = static_cast<std::byte>(kMapVersion + 1);
  EXPECT_NE(decode(sealed(newer)).error().message().find("version 2"), std::string::npos);
}

TEST(MapCodec, RefusesWhatNoMapHolds) {
  const auto code = [](const std::vector<List>& visible, const std::vector<List>& replicas = {}) {
    return decode(map_of(visible, replicas)).error().code;
  };
  const Join tens = Join(repeat(pairs(0, 0, 10), 50, {{100, 10}}).value());
  ASSERT_TRUE(decode(map_of({{1, 7, tens}}, {{2, 7, pairs(100, 0, 10)}})));
  // (M1): runs, a run and a repetition, repetitions.
  EXPECT_EQ(code({{1, 1, pairs(0, 0, 10)}, {2, 2, pairs(9, 0, 10)}}), Code::kIntegrity);
  EXPECT_EQ(code({{1, 1, tens}, {2, 2, pairs(4905, 0, 10)}}), Code::kIntegrity);
  EXPECT_EQ(code({{1, 1, tens}, {2, 2, tens}}), Code::kIntegrity);
  // (M3): before the file, before the allocation, descending.
  EXPECT_EQ(code({{1, 1, pairs(-1, 0, 10)}}), Code::kIntegrity);
  EXPECT_EQ(code({{1, 1, pairs(0, -1, 10)}}), Code::kIntegrity);
  EXPECT_EQ(code({{1, 1, repeat(pairs(5000, 0, 10), 50, {{-100, 10}}).value()}}), Code::kIntegrity);
  // (M4): a replica of nothing, of another epoch, twice in one allocation.
  EXPECT_EQ(code({{1, 7, tens}}, {{2, 7, pairs(110, 0, 10)}}), Code::kIntegrity);
  EXPECT_EQ(code({{1, 7, tens}}, {{2, 6, pairs(100, 0, 10)}}), Code::kIntegrity);
  EXPECT_EQ(code({{1, 7, tens}}, {{2, 7, pairs(100, 0, 10)}, {2, 7, pairs(105, 20, 5)}}),
            Code::kIntegrity);
  // Newer than the map, no pairs, an allocation that is no number.
  EXPECT_EQ(code({{1, 8, tens}}), Code::kIntegrity);
  EXPECT_EQ(code({{1, 7, Join()}}), Code::kIntegrity);
}

// Sets that only fit beside each other after all their runs are looked at.
TEST(MapCodec, IncommensurateStridesAreChecked) {
  FileMap map;
  ASSERT_TRUE(map.add({strided(0, 1, 1009, 2000), 1, 0, 1}));
  for (const int64_t stride : {1013, 1019, 1021, 1031}) {
    ASSERT_TRUE(map.add({strided(0, 1, stride, 2000), 2, 0, 2}));
    ASSERT_TRUE(map.add({strided(7, 1, stride + 2, 2000), 3, 0, 1}));
  }
  const FileMap again = decode(encode(map)).value();
  again.check_invariants();
  EXPECT_EQ(again.covered_bytes(), map.covered_bytes());
  EXPECT_EQ(again.run_count(), map.run_count());
}

// Even and odd bytes at strides whose union nobody could write down; that they are apart is
// arithmetic.
TEST(MapCodec, SetsTooIrregularToUniteAreChecked) {
  constexpr int64_t kRuns = 10'000'000;
  FileMap map;
  ASSERT_TRUE(map.add({strided(0, 1, 2'000'006, kRuns), 1, 0, 1}));
  ASSERT_TRUE(map.add({strided(1, 1, 2'000'066, kRuns), 2, 0, 1}));
  EXPECT_EQ(map.covered().error().code, Code::kTooComplex);
  EXPECT_EQ(decode(encode(map)).value().covered_bytes(), 2 * kRuns);
  const Join even = repeat(pairs(0, 0, 1), kRuns, {{2'000'006, 1}}).value();
  const Join odd = repeat(pairs(1, 0, 1), kRuns, {{2'000'065, 1}}).value();
  EXPECT_EQ(decode(map_of({{1, 1, even}, {2, 1, odd}}, {})).error().code, Code::kIntegrity);
}

// Irregular lists of lists, all alike: each level is written once.
TEST(MapCodec, FewBytesDoNotStandForAnyNumberOfItems) {
  Join all = pairs(0, 0, 1);
  for (int level = 0; level < 5; ++level) {
    pattern::Assembler<2> list;
    int64_t at = 0;
    for (int64_t i = 0; i < 48; ++i) {
      list.append(all.shifted({{at, i * all.size()}}).value());
      at += all.span(0).end + 1 + i * i % 47;
    }
    const Join irregular = list.finish().value();
    all = repeat(irregular, 2, {{at, irregular.size()}}).value();
  }
  ASSERT_GT(all.shape().weight(), int64_t{1} << 23);
  const Bytes encoded = map_of({{1, 1, all}}, {});
  EXPECT_LT(encoded.size(), 2000U);
  EXPECT_EQ(decode(encoded).error().code, Code::kTooComplex);
}

}  // namespace
}  // namespace tessera::map
