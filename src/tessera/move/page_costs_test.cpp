#include "tessera/move/page_costs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tessera/lock/no_locks.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/pattern/trace.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/thread_team.hpp"

namespace tessera::move {
namespace {

constexpr int64_t kFileBytes = int64_t{5} << 20;

class PageCostsTest : public ::testing::Test {
 protected:
  PageCostsTest() {
    for (size_t i = 0; i < content_.size(); ++i) content_[i] = static_cast<std::byte>(i * 7 >> 3);
    auto file = port::PlainFile::open(path_, {.read = true, .write = true, .create = true}).value();
    EXPECT_TRUE(file->write_at(0, content_));
  }
  [[nodiscard]] std::unique_ptr<port::PlainFile> open(bool write) const {
    return port::PlainFile::open(path_, {.read = true, .write = write}).value();
  }

  const port::TestDirectory directory_;
  const std::string path_ = directory_.path("pages");
  std::vector<std::byte> content_ = std::vector<std::byte>(kFileBytes);
};

TEST_F(PageCostsTest, NothingIsKnownBeforeItWasLearned) {
  PageCosts costs;
  EXPECT_FALSE(costs.seen(Direction::kRead));
  costs.learn(Direction::kWrite, 70);
  EXPECT_FALSE(costs.seen(Direction::kRead));
  EXPECT_EQ(costs.seen(Direction::kWrite), 70);
}

TEST_F(PageCostsTest, TryingChangesNothing) {
  const auto file = open(true);
  if (!file->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  const Costs costs;
  for (const Interval part :
       {Interval{0, kFileBytes}, Interval{4097, 4098}, Interval{kFileBytes - 1, kFileBytes},
        Interval{(int64_t{2} << 20) - 1, kFileBytes}}) {
    for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
      const auto ns = probe_pages(*file, part, direction, costs);
      ASSERT_TRUE(ns);
      EXPECT_GT(*ns, 0);
    }
    EXPECT_LE(*probe_pages(*file, part, Direction::kWrite, costs),
              costs.mapped_write_ns + costs.mapped_fault_ns);
    const double loads_ns = *probe_pages(*file, part, Direction::kRead, costs);
    EXPECT_GE(loads_ns, costs.mapped_read_ns);
    EXPECT_LE(loads_ns, costs.mapped_read_ns + costs.mapped_load_ns);
  }
  std::vector<std::byte> after(content_.size());
  ASSERT_EQ(file->read_at(0, after).bytes, kFileBytes);
  EXPECT_TRUE(after == content_);
  EXPECT_EQ(file->size().value(), kFileBytes);
}

TEST_F(PageCostsTest, PagesThatMayNotBeStoredToTellNothing) {
  const auto file = open(false);
  if (!file->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  EXPECT_FALSE(probe_pages(*file, {0, kFileBytes}, Direction::kWrite, {}));
  EXPECT_TRUE(probe_pages(*file, {0, kFileBytes}, Direction::kRead, {}));
}

// What counts is how many pages a move touches, not how many bytes it moves.
TEST_F(PageCostsTest, MovesOfManyPagesLearnWhatTheyCost) {
  const auto file = open(true);
  if (!file->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  const auto learns = [&](int64_t length, int64_t stride, int64_t count) {
    lock::NoLocks locks;
    const Hints hints;
    const Costs costs;
    Experience experience;
    Context context{*file, locks, hints, costs, {}, {}, {}, 1, 0, &experience};
    const Pattern run = Pattern::run({{0}}, length).value();
    const Move move = {Direction::kWrite, pattern::repeat(run, count, {{stride}}).value(),
                       Pattern::run({{0}}, length * count).value(), content_.data()};
    static_cast<void>(facts_of(move, context));
    return experience.pages.seen(Direction::kWrite).has_value();
  };
  EXPECT_TRUE(learns(8, 128, 32 << 10));   // 256 KB of 4 MB
  EXPECT_TRUE(learns(8, 16 << 10, 300));   // 300 pages
  EXPECT_FALSE(learns(8, 16 << 10, 200));  // 200 pages
  EXPECT_FALSE(learns(8, 16, 32 << 10));   // 128 pages
}

// What another writes at the same moment stays: a byte that is tried is never put back.
TEST_F(PageCostsTest, BytesOfOthersAreNotLost) {
  const auto file = open(true);
  if (!file->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  const auto mapping =
      port::FileMapping::map(*file, 0, kFileBytes, port::Access::kReadWrite).value();
  std::atomic<bool> ends = false;
  int lost = 0;
  port::run_team(2, [&](port::Team& team) {
    if (team.rank() == 0) {
      while (!ends) static_cast<void>(probe_pages(*file, {0, kFileBytes}, Direction::kWrite, {}));
      return;
    }
    auto* const first = reinterpret_cast<unsigned char*>(mapping.data());
    for (int i = 0; i < 200'000; ++i) {
      const auto value = static_cast<unsigned char>(i);
      __atomic_store_n(first, value, __ATOMIC_RELAXED);
      if (__atomic_load_n(first, __ATOMIC_RELAXED) != value) ++lost;
    }
    ends = true;
  });
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace tessera::move
