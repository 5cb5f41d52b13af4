#include "tessera/port/write_choice.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace tessera::port {
namespace {

constexpr int64_t kPieceBytes = int64_t{512} << 10;
constexpr int64_t kMegabyte = int64_t{1} << 20;

// What a byte takes by a way, after so many bytes of the file.
using Costs = std::function<double(WriteWay way, int64_t written)>;

// Bytes by each way of a file that is written as the choice says.
std::map<WriteWay, int64_t> write(WriteChoice& choice, int64_t bytes, const Costs& costs) {
  std::map<WriteWay, int64_t> by;
  for (int64_t written = 0; written < bytes; written += kPieceBytes) {
    const WriteWay way = choice.next();
    by[way] += kPieceBytes;
    choice.took(way, kPieceBytes,
                static_cast<int64_t>(static_cast<double>(kPieceBytes) * costs(way, written)));
  }
  return by;
}

double warm(WriteWay way, int64_t /*written*/) {
  return way == WriteWay::kThroughMemory ? 0.12 : 0.5;
}
double cold(WriteWay way, int64_t /*written*/) {
  return way == WriteWay::kThroughMemory ? 2.3 : 0.5;
}

// Neither is quick.
double slow(WriteWay way, int64_t /*written*/) {
  return way == WriteWay::kThroughMemory ? 0.5 : 0.9;
}

TEST(WriteChoice, BeginsThroughMemory) {
  WriteChoice choice;
  const auto by = write(choice, WriteChoice::kFirstTrialBytes, cold);
  EXPECT_EQ(by.size(), 1U);
  EXPECT_EQ(by.begin()->first, WriteWay::kThroughMemory);
}

TEST(WriteChoice, TriesNothingElseWhileMemoryIsQuick) {
  WriteChoice choice;
  auto by = write(choice, 4096 * kMegabyte, warm);
  EXPECT_EQ(by[WriteWay::kAround], 0);
}

TEST(WriteChoice, StaysWithTheQuickerAndTriesTheOtherAtGrowingDistances) {
  WriteChoice choice;
  auto by = write(choice, 4096 * kMegabyte, slow);
  // After 32, 64, 128, 256 MB, and then each 512; a trial that takes longer than usual ends.
  const int64_t trials = 4 + (4096 - 480) / 512;
  EXPECT_GE(by[WriteWay::kAround], trials * WriteChoice::kTrialBytes / 2);
  EXPECT_LT(by[WriteWay::kAround], trials * WriteChoice::kTrialBytes);
}

TEST(WriteChoice, ATrialThatHangsIsOneWrite) {
  WriteChoice choice;
  auto by = write(choice, WriteChoice::kFirstTrialBytes + WriteChoice::kTrialBytes,
                  [](WriteWay way, int64_t written) {
                    return way == WriteWay::kAround ? 50.0 : slow(way, written);
                  });
  EXPECT_EQ(by[WriteWay::kAround], kPieceBytes);
  EXPECT_EQ(choice.next(), WriteWay::kThroughMemory);
}

TEST(WriteChoice, GoesAroundWhatIsSlow) {
  WriteChoice choice;
  auto by = write(choice, 4096 * kMegabyte, cold);
  EXPECT_LT(by[WriteWay::kThroughMemory], 64 * kMegabyte);
}

TEST(WriteChoice, NoticesAtOnceThatTheWayInUseBecomesSlow) {
  WriteChoice choice;
  write(choice, 1024 * kMegabyte, warm);
  EXPECT_EQ(choice.next(), WriteWay::kThroughMemory);
  auto by = write(choice, 256 * kMegabyte, cold);
  EXPECT_LT(by[WriteWay::kThroughMemory], 16 * kMegabyte);
  EXPECT_EQ(choice.next(), WriteWay::kAround);
}

TEST(WriteChoice, FindsOutThatTheOtherWayBecameQuicker) {
  WriteChoice choice;
  write(choice, 1024 * kMegabyte, cold);
  EXPECT_EQ(choice.next(), WriteWay::kAround);
  write(choice, WriteChoice::kLastTrialBytes + WriteChoice::kTrialBytes, warm);
  EXPECT_EQ(choice.next(), WriteWay::kThroughMemory);
}

TEST(WriteChoice, OneSlowPieceDoesNotTurnIt) {
  WriteChoice choice;
  auto by = write(choice, 512 * kMegabyte, [](WriteWay way, int64_t written) {
    return written == 256 * kMegabyte ? 2.3 : warm(way, written);
  });
  EXPECT_EQ(by[WriteWay::kAround], 0);
}

}  // namespace
}  // namespace tessera::port
