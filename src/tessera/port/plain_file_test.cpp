// What plain_file.hpp promises beyond disk.hpp, whose rules disk_test.cpp holds through PosixDisk.
#include "tessera/port/plain_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "tessera/port/test_directory.hpp"

namespace tessera::port {
namespace {

using base::Bytes;
using base::bytes_of;
using base::text_of;

constexpr OpenMode kReadWrite = {.read = true, .write = true};
constexpr OpenMode kNew = {.read = true, .write = true, .create = true};

template <typename T>
int errno_of(const base::Result<T>& result) {
  return result ? 0 : result.error().errno_value;
}

class PlainFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return directory_.path(name); }
  std::unique_ptr<PlainFile> make(const std::string& name, std::string_view content = "") const {
    auto file = PlainFile::open(path(name), kNew).value();
    EXPECT_TRUE(file->write_at(0, bytes_of(content)));
    return file;
  }

  TestDirectory directory_;
};

TEST_F(PlainFileTest, WhatWasJustWrittenIsInMemory) {
  const auto file = make("cached", std::string(10'000, 'x'));
  EXPECT_TRUE(file->is_cached(0));
  EXPECT_TRUE(file->is_cached(9'999));
  const auto unreadable = PlainFile::open(path("cached"), {.read = false, .write = true}).value();
  EXPECT_FALSE(unreadable->is_cached(0)) << "who may not read is told nothing";
}

TEST_F(PlainFileTest, HolesAreWhereNothingWasWritten) {
  const auto file = make("holes", "x");
  ASSERT_TRUE(file->truncate(int64_t{8} << 20));
  ASSERT_TRUE(file->write_at(int64_t{4} << 20, bytes_of("y")));
  EXPECT_FALSE(file->is_hole(0));
  EXPECT_TRUE(file->is_hole(int64_t{2} << 20));
  EXPECT_FALSE(file->is_hole(int64_t{4} << 20));
  EXPECT_TRUE(file->is_hole(int64_t{6} << 20)) << "behind the last byte that was written";
  EXPECT_TRUE(file->is_hole(int64_t{16} << 20)) << "behind the end";
  if (file->reserve_range(0, int64_t{8} << 20)) {
    EXPECT_TRUE(file->is_hole(int64_t{2} << 20)) << "reserved, and nothing written";
  }
}

TEST_F(PlainFileTest, ModesOpenAsTheySay) {
  EXPECT_EQ(errno_of(PlainFile::open(path("a"), kReadWrite)), ENOENT);
  make("a", "abc");
  EXPECT_TRUE(PlainFile::open(path("a"), kNew));
  OpenMode exclusive = kNew;
  exclusive.exclusive = true;
  EXPECT_EQ(errno_of(PlainFile::open(path("a"), exclusive)), EEXIST);
  const auto write_only = PlainFile::open(path("a"), {.read = false, .write = true}).value();
  ASSERT_TRUE(write_only->write_at(0, bytes_of("x")));
  Bytes memory(3);
  EXPECT_EQ(errno_of(write_only->read_at(0, memory).status), EBADF);
  const auto read_only = PlainFile::open(path("a"), {}).value();
  EXPECT_EQ(errno_of(read_only->write_at(0, bytes_of("y")).status), EBADF);
  ASSERT_TRUE(read_only->read_at(0, memory));
  EXPECT_EQ(text_of(memory), "xbc");
}

TEST_F(PlainFileTest, PermissionsAreThoseGivenLessTheUmask) {
  const mode_t before = ::umask(022);
  OpenMode mode = kNew;
  mode.permissions = 0662;
  ASSERT_TRUE(PlainFile::open(path("a"), mode));
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST_F(PlainFileTest, DescriptorsAreNotInherited) {
  const auto file = make("a");
  EXPECT_NE(::fcntl(file->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(PlainFileTest, ReserveExtendsKeepsContentsAndNeverCuts) {
  const auto file = make("a", "abc");
  ASSERT_TRUE(file->reserve(0));
  EXPECT_EQ(file->size().value(), 3);
  ASSERT_TRUE(file->reserve(5'000'000));
  EXPECT_EQ(file->size().value(), 5'000'000);
  ASSERT_TRUE(file->reserve(10));
  EXPECT_EQ(file->size().value(), 5'000'000);
  Bytes memory(5);
  ASSERT_TRUE(file->read_at(0, memory));
  EXPECT_EQ(text_of(memory), std::string_view("abc\0\0", 5));
  struct stat status {};
  ASSERT_EQ(::fstat(file->descriptor(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 5'000'000);
}

TEST_F(PlainFileTest, ReservedRangesLeaveTheRestAsItIs) {
  const auto file = make("a", "abc");
  ASSERT_TRUE(file->reserve_range(4'000'000, 5'000'000));
  EXPECT_EQ(file->size().value(), 5'000'000);
  struct stat status {};
  ASSERT_EQ(::fstat(file->descriptor(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 1'000'000);
  EXPECT_LT(status.st_blocks * 512, 2'000'000);
  ASSERT_TRUE(file->reserve_range(0, 2));
  EXPECT_EQ(file->size().value(), 5'000'000);
  Bytes memory(4);
  ASSERT_TRUE(file->read_at(0, memory));
  EXPECT_EQ(text_of(memory), std::string_view("abc\0", 4));
}

TEST_F(PlainFileTest, ReserveOfAReadOnlyFileFails) {
  make("a", "abc");
  EXPECT_EQ(errno_of(PlainFile::open(path("a"), {}).value()->reserve(10)), EBADF);
}

TEST_F(PlainFileTest, ZerosAreWrittenBehindTheEndOnly) {
  const auto file = make("a", "abc");
  ASSERT_TRUE(extend_with_zeros(*file, 2));
  EXPECT_EQ(file->size().value(), 3);
  ASSERT_TRUE(extend_with_zeros(*file, 3'000'000));
  EXPECT_EQ(file->size().value(), 3'000'000);
  Bytes memory(3'000'000, std::byte{'x'});
  ASSERT_TRUE(file->read_at(0, memory));
  EXPECT_EQ(text_of(memory).substr(0, 3), "abc");
  EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{0}), 3'000'000 - 3);
  struct stat status {};
  ASSERT_EQ(::fstat(file->descriptor(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 3'000'000);
}

TEST_F(PlainFileTest, IdentityIsTheFilesNotTheNames) {
  const auto a = make("a");
  const auto b = make("b");
  ASSERT_EQ(::link(path("a").c_str(), path("c").c_str()), 0);
  const auto c = PlainFile::open(path("c"), kReadWrite).value();
  EXPECT_EQ(a->identity().value(), c->identity().value());
  EXPECT_FALSE(a->identity().value() == b->identity().value());
}

TEST_F(PlainFileTest, IsLocalKnowsWhatIsNot) {
  // procfs stands for every file system that is not in the list.
  EXPECT_FALSE(PlainFile::open("/proc/self/status", {}).value()->is_local());
  const std::string shared = "/dev/shm";
  if (::access(shared.c_str(), W_OK) == 0) {
    const std::string name = shared + "/tessera_plain_" + std::to_string(::getpid());
    const auto file = PlainFile::open(name, kNew).value();
    ::unlink(name.c_str());
    EXPECT_TRUE(file->is_local());
  }
}

// Linux moves at most 0x7ffff000 bytes a call. The file is a hole in memory and all segments share
// 64 MB, so that it costs little.
TEST_F(PlainFileTest, D2TransfersOverTheLimitOfACallAreWhole) {
  const Descriptor memory_file(::memfd_create("tessera", MFD_CLOEXEC));
  const std::string name = "/proc/self/fd/" + std::to_string(memory_file.number());
  const auto file = PlainFile::open(name, kReadWrite).value();
  constexpr int64_t kSize = (int64_t{1} << 31) + 12345;
  ASSERT_TRUE(file->truncate(kSize));
  ASSERT_TRUE(file->write_at(kSize - 1, bytes_of("x")));
  std::vector<ReadSegment> segments;
  Bytes memory(size_t{64} << 20);
  for (int64_t at = 0; at < kSize;) {
    const auto piece = std::min<int64_t>(kSize - at, static_cast<int64_t>(memory.size()));
    segments.push_back({at, std::span(memory).first(static_cast<size_t>(piece))});
    at += piece;
  }
  EXPECT_EQ(file->read_list(segments).bytes, kSize);
  EXPECT_EQ(memory[segments.back().memory.size() - 1], std::byte{'x'});
}

// Whether another open file may take the lock now. Answers without waiting.
bool is_free(const PlainFile& file, int64_t begin, int64_t end, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = end - begin;
  EXPECT_EQ(::fcntl(file.descriptor(), F_OFD_GETLK, &range), 0);
  return range.l_type == F_UNLCK;
}

TEST_F(PlainFileTest, LocksExcludeOtherOpensOverExactlyTheirRange) {
  const auto a = make("a");
  const auto b = PlainFile::open(path("a"), kReadWrite).value();
  ASSERT_TRUE(a->lock_range(10, 20, RangeLock::kExclusive));
  EXPECT_FALSE(is_free(*b, 19, 20, F_RDLCK));
  EXPECT_TRUE(is_free(*b, 20, 30, F_WRLCK));
  EXPECT_TRUE(is_free(*b, 0, 10, F_WRLCK));
  ASSERT_TRUE(a->lock_range(10, 20, RangeLock::kShared));
  EXPECT_TRUE(is_free(*b, 10, 20, F_RDLCK));
  EXPECT_FALSE(is_free(*b, 10, 20, F_WRLCK));
  ASSERT_TRUE(a->lock_range(10, 20, RangeLock::kUnlock));
  EXPECT_TRUE(is_free(*b, 10, 20, F_WRLCK));
}

TEST_F(PlainFileTest, LocksNeedTheAccessTheyAreFor) {
  make("a");
  const auto reader = PlainFile::open(path("a"), {}).value();
  EXPECT_EQ(errno_of(reader->lock_range(0, 1, RangeLock::kExclusive)), EBADF);
  EXPECT_TRUE(reader->lock_range(0, 1, RangeLock::kShared));
}

TEST_F(PlainFileTest, AnInterruptedWaitForALockGoesOn) {
  struct sigaction action {};
  action.sa_handler = [](int) {};  // without SA_RESTART, so that fcntl answers EINTR
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  const auto a = make("a");
  const auto b = PlainFile::open(path("a"), kReadWrite).value();
  ASSERT_TRUE(a->lock_range(0, 1, RangeLock::kExclusive));
  std::atomic<bool> granted = false;
  std::thread waiter([&] {
    EXPECT_TRUE(b->lock_range(0, 1, RangeLock::kExclusive));
    granted = true;
  });
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::pthread_kill(waiter.native_handle(), SIGUSR1);
  }
  EXPECT_FALSE(granted);
  ASSERT_TRUE(a->lock_range(0, 1, RangeLock::kUnlock));
  waiter.join();
  EXPECT_TRUE(granted);
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace tessera::port
