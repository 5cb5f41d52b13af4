#include "bench/peak_memory.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tessera::bench {
namespace {

constexpr int64_t kMany = int64_t{256} << 20;

void use_memory() {
  std::vector<char> bytes(kMany, 1);
  asm volatile("" : : "r"(bytes.data()) : "memory");
}

TEST(PeakMemory, SeesWhatWasFreedAndForgetsIt) {
  forget_peak_memory();
  const auto before = peak_memory_bytes();
  ASSERT_TRUE(before) << before.error().message();
  use_memory();
  const auto used = peak_memory_bytes();
  ASSERT_TRUE(used) << used.error().message();
  EXPECT_GE(*used, *before + kMany - (kMany >> 3));
  forget_peak_memory();
  const auto after = peak_memory_bytes();
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_LT(*after, *used - (kMany >> 1));
}

}  // namespace
}  // namespace tessera::bench
