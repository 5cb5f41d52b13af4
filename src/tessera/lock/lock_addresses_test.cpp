#include "tessera/lock/lock_addresses.hpp"

#include <gtest/gtest.h>

namespace tessera::lock {
namespace {

TEST(LockAddresses, KindsAreAdded) {
  const std::vector<std::string> expected = {"tcp:node7:7000", "unix:/a b/x", "tcp:[::1]:1"};
  EXPECT_EQ(parse_lock_addresses("node7:7000,unix:/a b/x,tcp:[::1]:1").value(), expected);
}

TEST(LockAddresses, WhatIsNoAddressIsRefused) {
  for (const char* text : {"", ",", "a:1,", ",a:1", "a:1,,b:2", "node7", "/tmp/x"}) {
    EXPECT_EQ(parse_lock_addresses(text).error().code, base::Code::kInvalid) << text;
  }
}

}  // namespace
}  // namespace tessera::lock
