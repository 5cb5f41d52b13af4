#include "tessera/owner/manager.hpp"

#include <gtest/gtest.h>

namespace tessera::owner {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;
constexpr double kWriteByteNs = 0.1;
constexpr double kListedWriteNs = 2000;

// As many bytes in runs of equal length, in blocks that are all touched. One run costs as much
// there as anywhere.
Rewriting in_runs(int64_t bytes, int64_t runs) {
  Rewriting made;
  made.bytes = bytes;
  made.hashed_again_bytes = runs > 1 ? bytes : 0;
  made.in_new_space_ns = static_cast<double>(bytes) * kWriteByteNs;
  made.in_place_ns = made.in_new_space_ns + static_cast<double>(runs - 1) * kListedWriteNs;
  return made;
}

// How often the bytes are forwarded before they come; 10,000 if they do not.
int64_t forwarded(const Rewriting& rewriting, const ManagerCosts& costs = {}) {
  ManagerChoice choice(costs);
  int64_t times = 0;
  while (times < 10'000 && !choice.migrates(rewriting)) ++times;
  return times;
}

TEST(Manager, BytesThatLieTogetherStay) {
  for (const int64_t bytes : {int64_t{8}, int64_t{4096}, kMegabyte, 100 * kMegabyte}) {
    EXPECT_EQ(forwarded(in_runs(bytes, 1)), 10'000) << bytes;
  }
}

TEST(Manager, BytesThatLieScatteredComeAtOnceWhereThatPays) {
  EXPECT_EQ(forwarded(in_runs(kMegabyte, kMegabyte / 64)), 0);
  EXPECT_EQ(forwarded(in_runs(64 * 1024, 1024)), 0);
}

TEST(Manager, ElseTheyComeWhenForwardingHasCostAsMuch) {
  const Rewriting few = in_runs(kMegabyte, 16);
  const double more_ns = few.in_place_ns - few.in_new_space_ns + 0.15 * kMegabyte;
  const double coming_ns = kMegabyte + 10000.0;
  const int64_t times = forwarded(few);
  EXPECT_GE(static_cast<double>(times + 1) * more_ns, coming_ns);
  EXPECT_LT(static_cast<double>(times) * more_ns, coming_ns);
  EXPECT_GT(times, 2);
}

TEST(Manager, MoreRunsNeverMakeThemStayLonger) {
  int64_t before = 10'000;
  for (int64_t runs = 1; runs <= kMegabyte; runs *= 2) {
    const int64_t now = forwarded(in_runs(kMegabyte, runs));
    EXPECT_LE(now, before) << runs;
    before = now;
  }
  EXPECT_EQ(before, 0);
}

TEST(Manager, TheDiskDecidesWhereItIsSlow) {
  ManagerCosts slow;
  slow.new_byte_ns = 100;
  const Rewriting scattered = in_runs(kMegabyte, kMegabyte / 64);
  EXPECT_EQ(forwarded(scattered), 0);
  EXPECT_GT(forwarded(scattered, slow), 0);
}

TEST(Manager, WhoCameIsNotCountedAgain) {
  ManagerChoice choice;
  const Rewriting few = in_runs(kMegabyte, 16);
  const int64_t first = forwarded(few);
  for (int i = 0; i < 3; ++i) {
    int64_t times = 0;
    while (!choice.migrates(few)) ++times;
    EXPECT_EQ(times, first);
  }
}

}  // namespace
}  // namespace tessera::owner
