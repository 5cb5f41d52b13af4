#include "tessera/container/contents.hpp"

#include <gtest/gtest.h>

#include "tessera/container/test_object_file.hpp"
#include "tessera/map/map_codec.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::container {
namespace {

Contents sample() {
  Contents contents;
  contents.block_bytes = 512;
  contents.size = 5000;
  contents.add({7, {10240, 11264}, 2, {1, 0xfedcba9876543210}});
  contents.add({3, {8192, 8704}, -1, {42}});
  EXPECT_TRUE(contents.map.add({test_set(0, 100, 5, 200), 3, 12, 1}));
  EXPECT_TRUE(contents.map.add({test_set(3000, 1024), 7, 0, 2}));
  contents.views.push_back({2, 40, 4, 800, test_set(0, 4, 10, 8).ascending()});
  contents.attributes = {{"program", "test"}, {"", "\xff"}};
  return contents;
}

TEST(Contents, ComeBackFromTheirEncoding) {
  const Contents before = sample();
  ASSERT_TRUE(before.check());
  const base::Bytes blob = encode_contents(before);
  const Contents after = decode_contents(blob).value();
  EXPECT_EQ(after.block_bytes, 512);
  EXPECT_EQ(after.size, 5000);
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.attributes, before.attributes);
  EXPECT_EQ(map::encode(after.map), map::encode(before.map));
  ASSERT_EQ(after.views.size(), 1U);
  EXPECT_EQ(after.views[0].process, 2);
  EXPECT_EQ(after.views[0].displacement, 40);
  EXPECT_EQ(after.views[0].etype_size, 4);
  EXPECT_EQ(after.views[0].extent, 800);
  EXPECT_EQ(pattern::encode(after.views[0].tile), pattern::encode(before.views[0].tile));
  EXPECT_EQ(encode_contents(after), blob);
  EXPECT_EQ(decode_allocations(blob).value(), before.allocations);
}

TEST(Contents, SectionsToComeAreSkippedOnlyIfTheyMayBe) {
  const base::Bytes blob = encode_contents(sample());
  for (const bool optional : {true, false}) {
    base::Bytes longer = blob;
    base::ByteWriter writer(longer);
    writer.varint(100 * 2 + (optional ? 1 : 0));
    writer.sized_bytes(base::bytes_of("news"));
    const auto decoded = decode_contents(longer);
    EXPECT_EQ(decoded.has_value(), optional);
    if (!decoded) {
      EXPECT_EQ(decoded.error().code, base::Code::kInvalid);
    }
  }
  base::Bytes newer = blob;
  newer[0] = std::byte{2};
  EXPECT_NE(decode_contents(newer).error().context.find("version 2"), std::string::npos);
}

// Version 1 as it was first written: one allocation of one block, 10 bytes in it. The map has a
// version and a test of its own.
TEST(Contents, TheFirstVersionStaysReadable) {
  Contents contents;
  contents.block_bytes = 512;
  contents.size = 10;
  contents.add({0, {8192, 8704}, 0, {0x0102030405060708}});
  EXPECT_TRUE(contents.map.add({test_set(0, 10), 0, 0, 1}));
  base::Bytes golden;
  for (const int byte : {1,                        // version
                         2, 3, 0x80, 4, 10,        // sizes: 512 and 10
                         4, 5, 1,    0, 32, 1, 0,  // one allocation: 0, block 16, one, manager 0
                         6, 8, 8,    7, 6,  5, 4, 3, 2, 1,  // its checksum
                         8}) {                              // the map
    golden.push_back(static_cast<std::byte>(byte));
  }
  base::ByteWriter(golden).sized_bytes(map::encode(contents.map));
  EXPECT_EQ(encode_contents(contents), golden);
  EXPECT_EQ(decode_contents(golden).value().allocations, contents.allocations);
}

TEST(Contents, BrokenOnesAreFound) {
  const auto broken = [](auto change) {
    Contents contents = sample();
    change(contents);
    const auto checked = contents.check();
    return checked ? std::string("sound") : checked.error().context;
  };
  EXPECT_EQ(broken([](Contents&) {}), "sound");
  EXPECT_NE(broken([](Contents& c) { c.allocations[0].place.end += 1; }), "sound");
  EXPECT_NE(broken([](Contents& c) { c.allocations[0].place = {0, 512}; }), "sound");
  EXPECT_NE(broken([](Contents& c) { c.allocations[0].place = {10752, 11264}; }), "sound");
  EXPECT_NE(broken([](Contents& c) { c.allocations[1].checksums.pop_back(); }), "sound");
  EXPECT_NE(broken([](Contents& c) { std::swap(c.allocations[0], c.allocations[1]); }), "sound");
  EXPECT_NE(broken([](Contents& c) { c.allocations.pop_back(); }), "sound");
  EXPECT_NE(broken([](Contents& c) { c.size = 4000; }), "sound");
  EXPECT_NE(broken([](Contents& c) {
              c.allocations[1].place.end -= 512;
              c.allocations[1].checksums.pop_back();
            }),
            "sound")
      << "the map names places behind the end";
}

TEST(Contents, UnusedAllocationsAreDropped) {
  Contents contents = sample();
  EXPECT_EQ(contents.next_id(), 8);
  ASSERT_TRUE(contents.map.truncate(2000));
  EXPECT_EQ(contents.drop_unused(), 1024);
  EXPECT_EQ(contents.find(7), nullptr);
  ASSERT_NE(contents.find(3), nullptr);
  EXPECT_EQ(contents.next_id(), 4);
  contents.allocations[0].id = std::numeric_limits<map::AllocationId>::max();
  EXPECT_EQ(contents.next_id(), 0);
}

TEST(Contents, NameTheLogicalBytesOfPlaces) {
  const Contents contents = sample();
  EXPECT_EQ(logical_bytes(contents, 7, {512, 1024}), "bytes in [3512, 4024) of the object file");
  EXPECT_EQ(logical_bytes(contents, 3, {0, 12}), "no visible bytes of the object file");
  EXPECT_EQ(logical_bytes(contents, 3, {0, 113}), "bytes in [0, 201) of the object file");
}

}  // namespace
}  // namespace tessera::container
