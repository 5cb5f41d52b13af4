#include "tessera/owner/sharing_of_objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "tessera/owner/policies.hpp"
#include "tessera/owner/test_sharings.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::owner {
namespace {

using object::ObjectSet;
using pattern::ByteSet;
using pattern::Interval;

ByteSet set_of(const std::vector<Interval>& intervals) {
  ByteSet set;
  for (const Interval& interval : intervals) {
    set = unite(set, ByteSet::of(interval).value()).value();
  }
  return set;
}

// Rows of a block with ghosts around it, in a file of `width` bytes a row.
ByteSet rows(Interval lines, Interval columns, int64_t width) {
  const auto line =
      pattern::Pattern::run({{lines.begin * width + columns.begin}}, columns.length()).value();
  return ByteSet::of_ascending(repeat(line, lines.length(), {{width}}).value());
}

TEST(SharingOfObjects, BytesInFileOrderWithGaps) {
  const std::vector<ByteSet> views = {set_of({{10, 20}, {40, 45}}), set_of({{15, 30}, {45, 50}})};
  const ObjectSet objects = ObjectSet::of({0, 100}, views).value();
  const ObjectSharing found = sharing_of(objects).value();
  EXPECT_EQ(found.pieces, (std::vector<Interval>{{10, 30}, {40, 50}}));
  EXPECT_EQ(found.sharing.processes(), 2);
  EXPECT_EQ(found.sharing.items(), 30);
  ASSERT_EQ(found.sharing.stretches().size(), 5U);
  const auto both = found.sharing.holders(found.sharing.stretches()[1].holders);
  EXPECT_EQ(std::vector<Process>(both.begin(), both.end()), (std::vector<Process>{0, 1}));
  EXPECT_TRUE(found.sharing.stretches()[3].behind_gap);
  EXPECT_FALSE(found.sharing.stretches()[4].behind_gap);
  const Writers writers = home_writers(found.sharing);
  EXPECT_TRUE(equal(share_of(found, writers, 0), set_of({{10, 20}, {40, 45}})).value());
  EXPECT_TRUE(equal(share_of(found, writers, 1), set_of({{20, 30}, {45, 50}})).value());
}

TEST(SharingOfObjects, NoViewsHaveNothing) {
  const ObjectSharing none = sharing_of(ObjectSet({0, 100})).value();
  EXPECT_EQ(none.sharing.items(), 0);
  EXPECT_TRUE(share_of(none, optimal_writers(none.sharing), 0).empty());
}

TEST(SharingOfObjects, TooManyObjectsAreRefused) {
  const std::vector<ByteSet> views = {rows({0, 1000}, {0, 10}, 100), rows({0, 1000}, {5, 20}, 100)};
  const ObjectSet objects = ObjectSet::of({0, 100000}, views).value();
  EXPECT_TRUE(sharing_of(objects, 3000));
  const auto refused = sharing_of(objects, 2999);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kTooComplex);
  EXPECT_NE(refused.error().context.find("3000 objects"), std::string::npos);
}

void expect_compressed(const ObjectSharing& found, int64_t memory_bytes_max) {
  for (const Policy policy : {Policy::kHome, Policy::kIdg, Policy::kFirst, Policy::kOptimal}) {
    const Writers writers = choose_writers(found.sharing, {.policy = policy}).value();
    for (const Process p : {0, 1}) {
      EXPECT_LT(share_of(found, writers, p).ascending().memory_bytes(), memory_bytes_max)
          << policy_name(policy) << ", process " << p;
    }
  }
}

// Blocks with ghosts side by side: what each writes is as regular as what it views.
TEST(SharingOfObjects, SharesOfRegularViewsStayCompressed) {
  constexpr int64_t kLines = 20000;
  const std::vector<ByteSet> views = {rows({0, kLines}, {0, 520}, 1024),
                                      rows({0, kLines}, {504, 1024}, 1024)};
  const ObjectSet objects = ObjectSet::of({0, kLines * 1024}, views).value();
  const ObjectSharing found = sharing_of(objects).value();
  expect_compressed(found, 2000);
}

// The same with bytes that nobody views between the rows.
TEST(SharingOfObjects, SharesOfRegularViewsWithGapsStayCompressed) {
  constexpr int64_t kLines = 20000;
  const std::vector<ByteSet> views = {rows({0, kLines}, {0, 520}, 2048),
                                      rows({0, kLines}, {504, 1024}, 2048)};
  expect_compressed(sharing_of(ObjectSet::of({0, kLines * 2048}, views).value()).value(), 2000);
}

// Islands that all hold: one process goes on over the gaps until another has too little to write,
// so that the writer changes some dozens of times, not with every island.
TEST(SharingOfObjects, IslandsKeepTheirWriterOverGaps) {
  constexpr int64_t kLines = 20000;
  const ByteSet islands =
      unite(rows({0, kLines}, {0, 100}, 1024), rows({0, kLines}, {300, 358}, 1024)).value();
  const std::vector<ByteSet> views = {islands, islands};
  const auto found = sharing_of(ObjectSet::of({0, kLines * 1024}, views).value()).value();
  EXPECT_LT(optimal_writers(found.sharing).intervals().size(), 100U);
  expect_compressed(found, 40'000);
}

// The border goes to the middle of the ghosts, which is a multiple of 512.
TEST(SharingOfObjects, BordersMoveToEvenOffsets) {
  const std::vector<ByteSet> views = {rows({0, 10}, {0, 520}, 1024),
                                      rows({0, 10}, {504, 1024}, 1024)};
  const ObjectSharing found = sharing_of(ObjectSet::of({0, 10240}, views).value()).value();
  const Writers writers = with_aligned_borders(found, optimal_writers(found.sharing));
  EXPECT_TRUE(equal(share_of(found, writers, 0), rows({0, 10}, {0, 512}, 1024)).value());
  EXPECT_TRUE(equal(share_of(found, writers, 1), rows({0, 10}, {512, 1024}, 1024)).value());
}

int zeros_below(int64_t number) { return std::countr_zero(static_cast<uint64_t>(number)); }

// File offsets of the borders between two writers.
std::vector<int64_t> borders_of(const std::vector<ByteSet>& shares, int64_t universe) {
  std::vector<int64_t> borders;
  const auto writer_of = [&](int64_t byte) {
    const auto found = std::find_if(shares.begin(), shares.end(),
                                    [byte](const ByteSet& share) { return share.contains(byte); });
    return found - shares.begin();
  };
  const auto nobody = std::ssize(shares);
  for (int64_t byte = 1; byte < universe; ++byte) {
    const auto before = writer_of(byte - 1);
    const auto here = writer_of(byte);
    if (before != nobody && here != nobody && before != here) borders.push_back(byte);
  }
  return borders;
}

std::vector<ByteSet> shares_of(const ObjectSharing& found, const Writers& writers, size_t count) {
  std::vector<ByteSet> shares;
  for (size_t p = 0; p < count; ++p) {
    shares.push_back(share_of(found, writers, static_cast<Process>(p)));
  }
  return shares;
}

// Aligning keeps the number of borders and makes none of them less even.
void expect_more_even(const std::vector<ByteSet>& before, const std::vector<ByteSet>& after,
                      int64_t universe) {
  const auto were = borders_of(before, universe);
  const auto are = borders_of(after, universe);
  ASSERT_EQ(were.size(), are.size());
  for (size_t i = 0; i < are.size(); ++i) EXPECT_GE(zeros_below(are[i]), zeros_below(were[i]));
}

// Every viewed byte is in the share of exactly one process, which views it.
void expect_written_once(const std::vector<ByteSet>& views, const std::vector<ByteSet>& shares,
                         int64_t universe) {
  for (int64_t byte = 0; byte < universe; ++byte) {
    int viewers = 0;
    int writing = 0;
    for (size_t p = 0; p < views.size(); ++p) {
      viewers += views[p].contains(byte) ? 1 : 0;
      writing += shares[p].contains(byte) ? 1 : 0;
      ASSERT_TRUE(views[p].contains(byte) || !shares[p].contains(byte));
    }
    ASSERT_EQ(writing, viewers > 0 ? 1 : 0);
  }
}

TEST(SharingOfObjects, Model) {
  constexpr int64_t kUniverse = 64;
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 300; ++round) {
    const size_t processes = 1 + below(random, 4);
    std::vector<ByteSet> views;
    for (size_t p = 0; p < processes; ++p) {
      std::vector<Interval> intervals;
      for (size_t i = below(random, 4); i > 0; --i) {
        const auto begin = static_cast<int64_t>(below(random, kUniverse));
        const auto length = static_cast<int64_t>(below(random, 20));
        intervals.push_back({begin, std::min(kUniverse, begin + length)});
      }
      views.push_back(set_of(intervals));
    }
    const ObjectSet objects = ObjectSet::of({0, kUniverse}, views).value();
    const ObjectSharing found = sharing_of(objects).value();
    for (const Policy policy : {Policy::kHome, Policy::kRandom, Policy::kIdg, Policy::kOptimal}) {
      const Writers writers = choose_writers(found.sharing, {.policy = policy}).value();
      const auto shares = shares_of(found, writers, processes);
      expect_written_once(views, shares, kUniverse);
      const auto aligned = shares_of(found, with_aligned_borders(found, writers), processes);
      expect_written_once(views, aligned, kUniverse);
      expect_more_even(shares, aligned, kUniverse);
    }
  }
}

}  // namespace
}  // namespace tessera::owner
