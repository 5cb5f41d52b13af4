#include "tessera/cli/exit_code.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tessera/base/json.hpp"

namespace tessera::cli {
namespace {

TEST(ExitCodes, FollowTheReactionThatACallerHas) {
  using base::Code;
  EXPECT_EQ(static_cast<int>(exit_code_of(Code::kFailed)), 1);
  EXPECT_EQ(static_cast<int>(exit_code_of(Code::kInvalid)), 1);
  EXPECT_EQ(static_cast<int>(exit_code_of(Code::kTooComplex)), 1);
  EXPECT_EQ(static_cast<int>(exit_code_of(Code::kNotFound)), 3);
  EXPECT_EQ(static_cast<int>(exit_code_of(Code::kIntegrity)), 4);
  EXPECT_EQ(static_cast<int>(exit_code_of(Code::kRetry)), 5);
  EXPECT_EQ(static_cast<int>(exit_code_of(Code::kDenied)), 6);
}

TEST(ExitCodes, ErrorsAreOneLineAndValidJson) {
  const base::Error error{base::Code::kNotFound, ENOENT, "cannot read a\nb\xFF"};
  EXPECT_EQ(error_line(error), "tessera: cannot read a?b\xFF: No such file or directory\n");
  const auto json = base::Json::parse(error_json(error));
  ASSERT_TRUE(json) << json.error().message();
  const base::Json* content = json->find("error");
  ASSERT_NE(content, nullptr);
  EXPECT_EQ(*content->find("code")->string(), "not-found");
  EXPECT_EQ(*content->find("exit")->integer(), 3);
  EXPECT_EQ(*content->find("errno")->integer(), ENOENT);
}

}  // namespace
}  // namespace tessera::cli
