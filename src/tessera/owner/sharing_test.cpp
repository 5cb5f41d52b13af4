#include "tessera/owner/sharing.hpp"

#include <gtest/gtest.h>

#include "tessera/owner/test_sharings.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::owner {
namespace {

using List = std::vector<Process>;

List list_of(const Sharing& sharing, HoldersId id) {
  const auto holders = sharing.holders(id);
  return {holders.begin(), holders.end()};
}

TEST(Sharing, ListsAreStoredOnceInTheirOrder) {
  Sharing sharing(4);
  const HoldersId a = sharing.intern(List{2, 0});
  const HoldersId b = sharing.intern(List{0, 2});
  EXPECT_NE(a, b);
  EXPECT_EQ(sharing.intern(List{2, 0}), a);
  EXPECT_EQ(sharing.lists(), 2);
  EXPECT_EQ(list_of(sharing, a), (List{2, 0}));
  EXPECT_EQ(list_of(sharing, b), (List{0, 2}));
  EXPECT_TRUE(sharing.is_shared(a));
  EXPECT_FALSE(sharing.is_shared(sharing.intern(List{3})));
}

TEST(Sharing, NeighboursWithTheSameListAreOneStretch) {
  Sharing sharing(3);
  const HoldersId a = sharing.intern(List{0});
  const HoldersId b = sharing.intern(List{0, 1});
  sharing.append(3, a);
  sharing.append(2, a);
  sharing.append(0, b);
  sharing.append(1, a);
  sharing.append(4, b);
  EXPECT_EQ(sharing.items(), 10);
  ASSERT_EQ(sharing.stretches().size(), 2U);
  EXPECT_EQ(sharing.stretches()[0], (Stretch{6, a, false}));
  EXPECT_EQ(sharing.stretches()[1], (Stretch{10, b, false}));
  EXPECT_EQ(sharing.shared_items(), 4);
  EXPECT_EQ(sharing.replicas(), 14);
}

TEST(Sharing, AGapKeepsStretchesApart) {
  Sharing sharing(2);
  const HoldersId a = sharing.intern(List{1, 0});
  sharing.leave_gap();
  sharing.append(3, a);
  sharing.leave_gap();
  sharing.append(0, a);
  sharing.append(3, a);
  sharing.append(1, a);
  ASSERT_EQ(sharing.stretches().size(), 2U);
  EXPECT_EQ(sharing.stretches()[0], (Stretch{3, a, false}));
  EXPECT_EQ(sharing.stretches()[1], (Stretch{7, a, true}));
}

TEST(SharingDeathTest, ListsKeepS3) {
  Sharing sharing(2);
  EXPECT_DEATH(sharing.intern(List{}), "keeps_s3");
  EXPECT_DEATH(sharing.intern(List{1, 1}), "keeps_s3");
  EXPECT_DEATH(sharing.intern(List{2}), "keeps_s3");
  EXPECT_DEATH(sharing.append(1, 0), "assertion failed");
}

// Against a list with the holders of each item.
TEST(Sharing, Model) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 200; ++round) {
    const int processes = 1 + static_cast<int>(below(random, 6));
    const auto items = random_items(random, below(random, 40), processes);
    const Sharing sharing = sharing_of_items(items, processes);
    ASSERT_EQ(sharing.items(), std::ssize(items));
    int64_t shared = 0;
    int64_t replicas = 0;
    int64_t begin = 0;
    const Stretch* before = nullptr;
    for (const Stretch& stretch : sharing.stretches()) {
      ASSERT_LT(begin, stretch.end);
      ASSERT_TRUE(before == nullptr || stretch.behind_gap || stretch.holders != before->holders);
      for (int64_t i = begin; i < stretch.end; ++i) {
        const PlainItem& item = items[static_cast<size_t>(i)];
        ASSERT_EQ(list_of(sharing, stretch.holders), item.holders);
        ASSERT_EQ(item.behind_gap && i > 0, stretch.behind_gap && i == begin);
        shared += item.holders.size() > 1 ? 1 : 0;
        replicas += std::ssize(item.holders);
      }
      begin = stretch.end;
      before = &stretch;
    }
    EXPECT_EQ(begin, sharing.items());
    EXPECT_EQ(sharing.shared_items(), shared);
    EXPECT_EQ(sharing.replicas(), replicas);
  }
}

}  // namespace
}  // namespace tessera::owner
