#include "tessera/daemon/inquiry.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tessera::daemon {
namespace {

constexpr int64_t kLongNs = 30'000'000'000;

TEST(Inquiry, WhoAsksHasANewAnswer) {
  Inquiry inquiry;
  std::atomic<bool> stopped = false;
  std::thread answering([&] {
    for (int made = 0; !stopped;) inquiry.answer([&] { return std::to_string(++made); });
  });
  std::vector<std::thread> asking;
  for (int i = 0; i < 3; ++i) {
    asking.emplace_back([&] {
      int last = 0;
      for (int round = 0; round < 100; ++round) {
        const auto text = inquiry.ask([] {}, kLongNs);
        ASSERT_TRUE(text);
        EXPECT_GT(std::stoi(*text), last);
        last = std::stoi(*text);
      }
    });
  }
  for (std::thread& thread : asking) thread.join();
  stopped = true;
  answering.join();
}

TEST(Inquiry, NobodyIsAskedForNothing) {
  Inquiry inquiry;
  int made = 0;
  const auto make = [&] { return std::to_string(++made); };
  inquiry.answer(make);
  EXPECT_EQ(made, 0);
  // One that was not answered in time leaves its question, and takes no old answer the next time.
  EXPECT_FALSE(inquiry.ask([] {}, 1'000'000));
  inquiry.answer(make);
  EXPECT_EQ(made, 1);
  EXPECT_FALSE(inquiry.ask([] {}, 1'000'000));
}

}  // namespace
}  // namespace tessera::daemon
