#include "tessera/move/kept_mapping.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>

#include "tessera/port/cores.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::move {
namespace {

enum class Answer { kCopied, kAbsent, kWanted };
constexpr Direction kRead = Direction::kRead;
constexpr Direction kWrite = Direction::kWrite;

class KeptMappingTest : public ::testing::Test {
 protected:
  [[nodiscard]] KeptMapping::Mapping map(Interval part, Direction direction) const {
    return std::make_shared<const port::FileMapping>(
        port::FileMapping::map(*file_, part.begin, part.end, access_for(direction)).value());
  }

  // A run whose mapping is not worth having before the tenth time.
  Answer copy(Direction direction, int64_t offset, std::span<std::byte> memory) {
    const KeptMapping::Run run = {direction, offset, memory};
    if (kept_.copy(run)) return Answer::kCopied;
    const bool wanted = kept_.wants(run.part(), direction, {.saved_ns = 1, .price_ns = 10});
    return wanted ? Answer::kWanted : Answer::kAbsent;
  }

  const port::TestDirectory directory_;
  const std::unique_ptr<port::PlainFile> file_ =
      port::PlainFile::open(directory_.path("kept"), {.read = true, .write = true, .create = true})
          .value();
  KeptMapping kept_;
};

TEST_F(KeptMappingTest, IsGivenToWhomItHoldsEnough) {
  EXPECT_FALSE(kept_.take({0, 1}, kRead));
  kept_.keep(map({4096, 16384}, kRead));
  EXPECT_FALSE(kept_.holds({4095, 5000}, kRead));
  EXPECT_FALSE(kept_.holds({5000, 16385}, kRead));
  EXPECT_FALSE(kept_.holds({5000, 6000}, kWrite));
  EXPECT_FALSE(kept_.take({5000, 6000}, kWrite));
  EXPECT_TRUE(kept_.holds({4096, 16384}, kRead));
  const auto taken = kept_.take({4096, 16384}, kRead);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->begin(), 4096);
  EXPECT_EQ(taken->end(), 16384);
}

TEST_F(KeptMappingTest, IsUsedByOneAtATime) {
  kept_.keep(map({0, 4096}, kWrite));
  auto first = kept_.take({0, 4096}, kRead);
  EXPECT_TRUE(first);
  EXPECT_FALSE(kept_.take({0, 4096}, kRead));
  kept_.keep(std::move(first));
  EXPECT_TRUE(kept_.take({0, 4096}, kWrite));
}

TEST_F(KeptMappingTest, TheLastOneStays) {
  kept_.keep(map({0, 4096}, kRead));
  kept_.keep(map({8192, 12288}, kRead));
  EXPECT_FALSE(kept_.holds({0, 1}, kRead));
  EXPECT_TRUE(kept_.holds({8192, 8193}, kRead));
}

TEST_F(KeptMappingTest, WhatWasMissedAddsUpForOnePartAndDirection) {
  EXPECT_EQ(kept_.missed_ns({0, 100}, kRead), 0);
  kept_.note_missed({0, 100}, kRead, 3);
  kept_.note_missed({0, 100}, kWrite, 5);
  kept_.note_missed({0, 100}, kRead, 4);
  EXPECT_EQ(kept_.missed_ns({0, 100}, kRead), 7);
  EXPECT_EQ(kept_.missed_ns({0, 100}, kWrite), 5);
  EXPECT_EQ(kept_.missed_ns({0, 99}, kRead), 0);
  kept_.note_missed({0, 99}, kRead, 1);
  EXPECT_EQ(kept_.missed_ns({0, 100}, kRead), 0);
  EXPECT_EQ(kept_.missed_ns({0, 99}, kRead), 1);
}

TEST_F(KeptMappingTest, AMappingIsWantedWhenItWouldHavePaid) {
  std::array<std::byte, 8> memory = {};
  for (int i = 0; i < 9; ++i) ASSERT_EQ(copy(kRead, 0, memory), Answer::kAbsent);
  EXPECT_EQ(copy(kRead, 8, memory), Answer::kAbsent);
  for (int i = 0; i < 9; ++i) ASSERT_EQ(copy(kRead, 0, memory), Answer::kAbsent);
  EXPECT_EQ(copy(kRead, 0, memory), Answer::kWanted);
  // Nobody has set one up, so it is not tried again at once.
  for (int i = 0; i < 9; ++i) ASSERT_EQ(copy(kRead, 0, memory), Answer::kAbsent);
  EXPECT_EQ(copy(kRead, 0, memory), Answer::kWanted);
}

TEST_F(KeptMappingTest, K3OnlySettledBytesAreCopied) {
  ASSERT_TRUE(file_->truncate(100));
  std::array<std::byte, 10> memory = {};
  memory.fill(std::byte{7});
  kept_.keep(map({0, 4096}, kWrite));
  EXPECT_EQ(copy(kWrite, 90, memory), Answer::kWanted);
  kept_.settle(100, kWrite);
  EXPECT_EQ(copy(kRead, 90, memory), Answer::kWanted);
  EXPECT_EQ(copy(kWrite, 91, memory), Answer::kWanted);
  EXPECT_FALSE(kept_.unmarked());
  EXPECT_EQ(copy(kWrite, 90, memory), Answer::kCopied);
  EXPECT_TRUE(kept_.unmarked());
  EXPECT_FALSE(kept_.unmarked());
  std::array<std::byte, 10> read = {};
  ASSERT_EQ(file_->read_at(90, read).bytes, 10);
  EXPECT_EQ(read, memory);
  kept_.settle(100, kRead);
  read.fill(std::byte{0});
  EXPECT_EQ(copy(kRead, 90, read), Answer::kCopied);
  EXPECT_EQ(read, memory);
  EXPECT_FALSE(kept_.unmarked());
  kept_.unsettle();
  EXPECT_EQ(copy(kRead, 90, read), Answer::kWanted);
  EXPECT_EQ(copy(kWrite, 90, memory), Answer::kWanted);
}

TEST_F(KeptMappingTest, OnlySettledBytesAreTouched) {
  std::array<std::byte, 100> bytes = {};
  bytes[7] = std::byte{42};
  ASSERT_TRUE(file_->write_at(0, bytes));
  std::byte seen = {};
  const auto look = [&](const std::byte* at) { seen = *at; };
  EXPECT_FALSE(kept_.touch({7, 100}, look));
  kept_.keep(map({0, 4096}, kRead));
  EXPECT_FALSE(kept_.touch({7, 100}, look));
  kept_.settle(100, kRead);
  EXPECT_FALSE(kept_.touch({7, 101}, look));
  EXPECT_TRUE(kept_.touch({7, 100}, look));
  EXPECT_EQ(seen, std::byte{42});
  // The page goes with its bytes.
  ASSERT_TRUE(file_->truncate(0));
  EXPECT_FALSE(kept_.touch({7, 100}, look));
  EXPECT_FALSE(kept_.reaches({7, 100}, kRead));
}

// Each thread stays in the mapping until the other is there too.
TEST_F(KeptMappingTest, ThreadsTouchItTogether) {
  ASSERT_TRUE(file_->truncate(4096));
  kept_.keep(map({0, 4096}, kRead));
  kept_.settle(4096, kRead);
  std::atomic<int> inside = 0;
  std::atomic<int> met = 0;
  const auto meet = [&](const std::byte*) {
    ++inside;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (inside < 2 && std::chrono::steady_clock::now() < end) port::offer_core();
    if (inside == 2) ++met;
  };
  port::run_ranks(2, [&](port::Exchange&) { EXPECT_TRUE(kept_.touch({0, 10}, meet)); });
  EXPECT_EQ(met, 2);
}

// It goes when the last one has left it.
TEST_F(KeptMappingTest, WhatIsTouchedStays) {
  ASSERT_TRUE(file_->truncate(4096));
  kept_.keep(map({0, 4096}, kRead));
  kept_.settle(4096, kRead);
  std::byte seen{1};
  EXPECT_TRUE(kept_.touch({0, 10}, [&](const std::byte* at) {
    kept_.unsettle();
    seen = *at;
  }));
  EXPECT_EQ(seen, std::byte{0});
  EXPECT_FALSE(kept_.holds({0, 1}, kRead));
}

TEST_F(KeptMappingTest, WhatWasMappedForReadingGoesWithASync) {
  kept_.keep(map({0, 4096}, kRead));
  kept_.unsettle();
  EXPECT_FALSE(kept_.holds({0, 1}, kRead));
  kept_.keep(map({0, 4096}, kWrite));
  kept_.unsettle();
  EXPECT_TRUE(kept_.holds({0, 1}, kRead));
}

// Another program has cut the file: whoever asks the system learns what there is.
TEST_F(KeptMappingTest, WhatIsGoneIsNotCopied) {
  ASSERT_TRUE(file_->truncate(8192));
  std::array<std::byte, 10> memory = {};
  kept_.keep(map({0, 8192}, kWrite));
  kept_.settle(8192, kWrite);
  EXPECT_EQ(copy(kWrite, 5000, memory), Answer::kCopied);
  ASSERT_TRUE(file_->truncate(0));
  EXPECT_EQ(copy(kWrite, 5000, memory), Answer::kWanted);
  EXPECT_FALSE(kept_.reaches({5000, 5010}, kWrite));
}

}  // namespace
}  // namespace tessera::move
