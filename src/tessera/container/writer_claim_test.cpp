#include "tessera/container/writer_claim.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "tessera/port/test_directory.hpp"

namespace tessera::container {
namespace {

std::unique_ptr<port::PlainFile> open(const std::string& path) {
  auto file = port::PlainFile::open(path, {.read = true, .write = true, .create = true});
  EXPECT_TRUE(file) << file.error().message();
  return *std::move(file);
}

TEST(WriterClaim, IsHeldByOneUntilItsFileIsClosed) {
  const port::TestDirectory directory;
  const std::string path = directory.path("o");
  auto first = open(path);
  const auto second = open(path);
  EXPECT_TRUE(claim_for_writing(*first));
  const auto refused = claim_for_writing(*second);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kRetry);
  EXPECT_NE(refused.error().message().find("open for writing elsewhere"), std::string::npos);
  first.reset();
  EXPECT_TRUE(claim_for_writing(*second));
}

TEST(WriterClaim, IsRefusedForAFileThatLostItsName) {
  const port::TestDirectory directory;
  const auto old = open(directory.path("o"));
  const auto fresh = open(directory.path("o.compact"));
  ASSERT_EQ(std::rename(directory.path("o.compact").c_str(), directory.path("o").c_str()), 0);
  const auto refused = claim_for_writing(*old);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kRetry);
  const auto again = open(directory.path("o"));
  EXPECT_TRUE(claim_for_writing(*again));
}

}  // namespace
}  // namespace tessera::container
