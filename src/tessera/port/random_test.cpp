#include "tessera/port/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/test_processes.hpp"
#include "tessera/port/test_refused_calls.hpp"
#include "tessera/port/test_sanitizers.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

// Gives out a fixed list, to reach the draws that uniform() has to refuse.
class ListedRandom final : public Random {
 public:
  explicit ListedRandom(std::vector<uint64_t> draws) : draws_(std::move(draws)) {}
  uint64_t next() override { return draws_.at(position_++); }
  [[nodiscard]] size_t drawn() const { return position_; }

 private:
  std::vector<uint64_t> draws_;
  size_t position_ = 0;
};

TEST(SeededRandom, SeedZeroGivesTheseNumbersOnEveryMachine) {
  SeededRandom random(0);
  EXPECT_EQ(random.next(), 0x99ec5f36cb75f2b4U);
  EXPECT_EQ(random.next(), 0xbf6e1f784956452aU);
  EXPECT_EQ(random.next(), 0x1a5f849d4933e6e0U);
}

TEST(SeededRandom, EqualSeedsAgreeAndOthersDiffer) {
  const uint64_t seed = test_seed();
  SeededRandom a(seed);
  SeededRandom b(seed);
  SeededRandom c(seed + 1);
  SeededRandom fork = SeededRandom(seed).fork();
  int same_as_c = 0;
  int same_as_fork = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t draw = a.next();
    ASSERT_EQ(draw, b.next());
    same_as_c += draw == c.next() ? 1 : 0;
    same_as_fork += draw == fork.next() ? 1 : 0;
  }
  EXPECT_LT(same_as_c, 2);
  EXPECT_LT(same_as_fork, 2);
}

TEST(Random, UniformIsEven) {
  SeededRandom random(test_seed());
  constexpr int kExpected = 10000;
  std::array<int, 7> counts{};
  for (int i = 0; i < 7 * kExpected; ++i) ++counts.at(random.uniform(7));
  // Ten standard deviations (92.6 draws each) about the expected 10,000.
  for (const int count : counts) EXPECT_NEAR(count, kExpected, 926);
}

TEST(Random, UniformRefusesTheDrawsThatWouldFavourSmallNumbers) {
  // 2^64 mod (2^63 + 1) is 2^63 - 1: every smaller draw is refused.
  const uint64_t bound = (uint64_t{1} << 63) + 1;
  ListedRandom random({0, 5, (uint64_t{1} << 63) - 2, (uint64_t{1} << 63) + 3});
  EXPECT_EQ(random.uniform(bound), 2U);
  EXPECT_EQ(random.drawn(), 4U);
  ListedRandom even({3});
  EXPECT_EQ(even.uniform(8), 3U);
}

TEST(Random, FillWritesLittleEndianAndNoByteMore) {
  ListedRandom random({0x0807060504030201, 0x100f0e0d0c0b0a09});
  base::Bytes bytes(12);
  random.fill(std::span(bytes).first(10));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(std::to_integer<int>(bytes[static_cast<size_t>(i)]), i + 1);
  EXPECT_EQ(bytes[10], std::byte{0});
}

TEST(SystemRandom, DoesNotRepeat) {
  SystemRandom random;
  std::set<uint64_t> seen;
  for (int i = 0; i < 100; ++i) seen.insert(random.next());
  EXPECT_EQ(seen.size(), 100U);
  base::Bytes bytes(1000);
  random.fill(bytes);
  EXPECT_GT(std::set<std::byte>(bytes.begin(), bytes.end()).size(), 100U);
}

TEST(SystemRandom, ReadsTheDeviceWhereTheCallIsRefused) {
  if (kSanitized) GTEST_SKIP() << "runs in builds without sanitizers";
  for (const int answer : {EPERM, ENOSYS}) {
    run_processes(1, [&](int) {
      ASSERT_TRUE(refuse({SYS_getrandom, answer}));
      SystemRandom random;
      std::set<uint64_t> seen;
      for (int i = 0; i < 100; ++i) seen.insert(random.next());
      EXPECT_EQ(seen.size(), 100U);
    });
  }
}

}  // namespace
}  // namespace tessera::port
