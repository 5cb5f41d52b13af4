#include "tessera/cache/kept_contents.hpp"

#include <gtest/gtest.h>

namespace tessera::cache {
namespace {

KeptContents::Origin origin_of(uint64_t sequence, size_t blob_bytes) {
  KeptContents::Origin origin;
  origin.superblock.sequence = sequence;
  origin.blob = base::Bytes(blob_bytes, std::byte{7});
  return origin;
}

container::Contents contents_of_size(int64_t size) {
  container::Contents contents;
  contents.size = size;
  return contents;
}

TEST(KeptContents, ComeBackOnce) {
  KeptContents kept;
  const auto origin = origin_of(1, 10);
  kept.keep(origin, contents_of_size(5));
  const auto back = kept.take(origin.superblock, origin.blob);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->size, 5);
  EXPECT_FALSE(kept.take(origin.superblock, origin.blob));
}

TEST(KeptContents, AreOfTheSameCommitAndTheSameBytes) {
  KeptContents kept;
  const auto origin = origin_of(1, 10);
  kept.keep(origin, contents_of_size(5));
  EXPECT_FALSE(kept.take(origin_of(2, 10).superblock, origin.blob));
  auto changed = origin.blob;
  changed.back() ^= std::byte{1};
  EXPECT_FALSE(kept.take(origin.superblock, changed));
  EXPECT_FALSE(kept.take(origin.superblock, base::ByteView(origin.blob).first(9)));
  EXPECT_TRUE(kept.take(origin.superblock, origin.blob));
}

TEST(KeptContents, AreThoseOfTheLastFile) {
  KeptContents kept;
  kept.keep(origin_of(1, 10), contents_of_size(5));
  kept.keep(origin_of(2, 10), contents_of_size(6));
  EXPECT_FALSE(kept.take(origin_of(1, 10).superblock, origin_of(1, 10).blob));
  EXPECT_EQ(kept.take(origin_of(2, 10).superblock, origin_of(2, 10).blob)->size, 6);
}

TEST(KeptContents, AreNotLarge) {
  KeptContents kept;
  const auto large = origin_of(1, static_cast<size_t>(KeptContents::kBlobBytesMax) + 1);
  kept.keep(large, contents_of_size(5));
  EXPECT_FALSE(kept.take(large.superblock, large.blob));
}

}  // namespace
}  // namespace tessera::cache
