#include "tessera/port/runtime_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "tessera/port/test_directory.hpp"

namespace tessera::port {
namespace {

class RuntimeFolderTest : public ::testing::Test {
 protected:
  RuntimeFolderTest() {
    const char* set = std::getenv("XDG_RUNTIME_DIR");
    if (set != nullptr) before_ = set;
    ::setenv("XDG_RUNTIME_DIR", directory_.path("").c_str(), 1);
  }
  ~RuntimeFolderTest() override {
    if (before_) {
      ::setenv("XDG_RUNTIME_DIR", before_->c_str(), 1);
    } else {
      ::unsetenv("XDG_RUNTIME_DIR");
    }
  }

  const TestDirectory directory_;
  std::optional<std::string> before_;
};

TEST_F(RuntimeFolderTest, IsMadeForTheUserAlone) {
  const std::string made = runtime_folder().value();
  EXPECT_EQ(made, directory_.path("") + "/tessera");
  struct stat found {};
  ASSERT_EQ(::stat(made.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
  EXPECT_EQ(runtime_folder().value(), made);
}

TEST_F(RuntimeFolderTest, OneThatOthersMayEnterIsRefused) {
  const std::string made = runtime_folder().value();
  ASSERT_EQ(::chmod(made.c_str(), 0755), 0);
  EXPECT_EQ(runtime_folder().error().code, base::Code::kDenied);
}

TEST_F(RuntimeFolderTest, ALinkIsRefused) {
  ASSERT_EQ(::mkdir(directory_.path("elsewhere").c_str(), 0700), 0);
  ASSERT_EQ(::symlink(directory_.path("elsewhere").c_str(), directory_.path("tessera").c_str()), 0);
  EXPECT_EQ(runtime_folder().error().code, base::Code::kDenied);
}

TEST_F(RuntimeFolderTest, WithoutTheVariableItIsBelowTmp) {
  const std::string below_tmp = "/tmp/tessera-" + std::to_string(::geteuid());
  for (const char* named : {"", "relative", "/nonexistent/folder"}) {
    ::setenv("XDG_RUNTIME_DIR", named, 1);
    EXPECT_EQ(runtime_folder().value(), below_tmp);
  }
}

}  // namespace
}  // namespace tessera::port
