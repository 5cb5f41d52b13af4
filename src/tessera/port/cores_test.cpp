#include "tessera/port/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace tessera::port {

TEST(Cores, OneForAProcessThatMayUseOneProcessor) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(cores(), 1);
  EXPECT_LE(cores(), CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(cores(), 1);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace tessera::port
