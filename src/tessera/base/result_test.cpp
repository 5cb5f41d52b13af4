#include "tessera/base/result.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace tessera::base {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(Code::kInvalid, std::to_string(value) + " is odd");
  return value / 2;
}

Result<int> quarter(int value) {
  TESSERA_TRY(const int once, half(value));
  TESSERA_TRY(const int twice, half(once));
  return twice;
}

Result<void> check_even(int value) {
  TESSERA_TRY_VOID(half(value));
  return {};
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(half(8).value(), 4);
  const auto odd = half(7);
  ASSERT_FALSE(odd.has_value());
  EXPECT_EQ(odd.error().code, Code::kInvalid);
  EXPECT_EQ(odd.error().message(), "7 is odd");
}

TEST(Result, TryStopsAtTheFirstError) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().context, "3 is odd");
  EXPECT_EQ(quarter(5).error().context, "5 is odd");
  EXPECT_TRUE(check_even(2));
  EXPECT_FALSE(check_even(3));
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> owned = *std::move(result);
  EXPECT_EQ(*owned, 5);
}

TEST(Result, ErrnoChoosesTheCodeAndEndsTheMessage) {
  const Result<int> missing = fail_errno(ENOENT, "open a.obj");
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_EQ(missing.error().message(), "open a.obj: No such file or directory");
  EXPECT_EQ(fail_errno(EACCES, "").error.code, Code::kDenied);
  EXPECT_EQ(fail_errno(EAGAIN, "").error.code, Code::kRetry);
  EXPECT_EQ(fail_errno(EIO, "").error.code, Code::kFailed);
}

TEST(Result, EveryCodeHasItsName) {
  EXPECT_STREQ(code_name(Code::kFailed), "failed");
  EXPECT_STREQ(code_name(Code::kNotFound), "not-found");
  EXPECT_STREQ(code_name(Code::kTooComplex), "too-complex");
}

TEST(ResultDeathTest, TheWrongHalfStops) {
  EXPECT_DEATH(half(3).value(), "assertion failed");
  EXPECT_DEATH(static_cast<void>(half(4).error()), "assertion failed");
  EXPECT_DEATH(check_even(3).value(), "assertion failed");
}

}  // namespace
}  // namespace tessera::base
