#include "bench/slow_mount.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "tessera/port/descriptor.hpp"

namespace tessera::bench {
namespace {

bool is_mounted(const std::string& path) {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" " + path + " ") != std::string::npos) return true;
  }
  return false;
}

// Null where this machine cannot mount.
class SlowMounts : public testing::Test {
 protected:
  void SetUp() override {
    auto started = SlowMount::start();
    if (!started && started.error().code == base::Code::kNotFound) {
      GTEST_SKIP() << started.error().message();
    }
    ASSERT_TRUE(started) << started.error().message();
    mount_.emplace(*std::move(started));
  }

  std::optional<SlowMount> mount_;
};

constexpr size_t kBytes = size_t{3} << 20;

TEST_F(SlowMounts, BytesComeBackAndEveryRequestWaits) {
  const std::string path = mount_->path() + "/file";
  const port::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(file.valid());
  std::vector<char> written(kBytes);
  for (size_t i = 0; i < kBytes; ++i) written[i] = static_cast<char>(i * 7 + i / 256);
  ASSERT_EQ(::pwrite(file.number(), written.data(), kBytes, 0), ssize_t{kBytes});
  for (int round = 1; round <= 2; ++round) {
    const auto before = mount_->requests();
    ASSERT_TRUE(before) << before.error().message();
    std::vector<char> read(kBytes);
    const double start = now_ns();
    ASSERT_EQ(::pread(file.number(), read.data(), kBytes, 0), ssize_t{kBytes});
    const double took_ns = now_ns() - start;
    EXPECT_EQ(read, written);
    const auto after = mount_->requests();
    ASSERT_TRUE(after) << after.error().message();
    const int64_t requests = after->reads - before->reads;
    EXPECT_GE(requests, 1) << "read " << round << " came from a cache";
    EXPECT_EQ(after->bytes - before->bytes, int64_t{kBytes});
    EXPECT_GE(after->largest_bytes, int64_t{kBytes} / requests);
    EXPECT_GE(took_ns, static_cast<double>(requests * SlowMount::kDelayUs) * 1e3);
  }
}

TEST_F(SlowMounts, FoldersAndQueuesAreThere) {
  const std::string folder = mount_->path() + "/folder";
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(::mkfifo((folder + "/queue").c_str(), 0600), 0);
  const port::Descriptor queue(::open((folder + "/queue").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::write(queue.number(), "x", 1), 1);
  char letter = 0;
  EXPECT_EQ(::read(queue.number(), &letter, 1), 1);
  EXPECT_EQ(letter, 'x');
  std::error_code error;
  EXPECT_EQ(std::filesystem::remove_all(folder, error), 2U) << error.message();
}

TEST_F(SlowMounts, NothingStaysMounted) {
  const std::string path = mount_->path();
  EXPECT_TRUE(is_mounted(path));
  const port::Descriptor open_still(
      ::open((path + "/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  mount_.reset();
  EXPECT_FALSE(is_mounted(path));
  EXPECT_FALSE(std::filesystem::exists(path));
}

// As a bench that is killed.
TEST_F(SlowMounts, NothingStaysMountedAfterAKill) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto started = SlowMount::start();
    std::string path = started ? started->path() : "";
    (void)!::write(told[1], path.data(), path.size());
    for (;;) ::pause();
  }
  std::string path(512, '\0');
  const ssize_t length = ::read(told[0], path.data(), path.size());
  ASSERT_GT(length, 0);
  path.resize(static_cast<size_t>(length));
  EXPECT_TRUE(is_mounted(path));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const double killed_at = now_ns();
  while (is_mounted(path) && now_ns() - killed_at < 10e9) ::usleep(1000);
  EXPECT_FALSE(is_mounted(path));
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
  ::close(told[0]);
  ::close(told[1]);
}

}  // namespace
}  // namespace tessera::bench
