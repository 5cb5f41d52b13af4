#include "tessera/port/scratch_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "tessera/port/test_directory.hpp"

namespace tessera::port {
namespace {

class ScratchFolderTest : public testing::Test {
 protected:
  [[nodiscard]] ScratchFolder make() const {
    return ScratchFolder::make(directory_.path("."), "scratch").value();
  }
  [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(directory_.path(".")); }

  const TestDirectory directory_;
};

TEST_F(ScratchFolderTest, IsGoneWithTheObjectWhicheverComesFirst) {
  std::optional<ScratchFolder> first = make();
  const ScratchFolder second = [this] {
    ScratchFolder made = make();
    return ScratchFolder(std::move(made));
  }();
  std::ofstream(first->path() + "/file") << "content";
  first.reset();
  EXPECT_TRUE(std::filesystem::exists(second.path()));
  { ScratchFolder third = make(); }
  EXPECT_TRUE(std::filesystem::exists(second.path()));
}

TEST_F(ScratchFolderTest, LeavesNothing) {
  { const ScratchFolder folder = make(); }
  EXPECT_TRUE(is_empty());
}

TEST_F(ScratchFolderTest, IsGoneSoonAfterAKill) {
  for (const int number : {SIGKILL, SIGINT, SIGTERM}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const ScratchFolder one = make();
      const ScratchFolder other = make();
      std::ofstream(one.path() + "/file") << "content";
      ::kill(::getpid(), number);
      ::pause();
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (int i = 0; i < 1000 && !is_empty(); ++i) ::usleep(10'000);
    EXPECT_TRUE(is_empty());
  }
}

TEST_F(ScratchFolderTest, CannotBeMadeWhereThereIsNone) {
  const auto folder = ScratchFolder::make(directory_.path("none"), "scratch");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace tessera::port
