#include "tessera/port/range_locks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

constexpr OpenMode kNew = {.read = true, .write = true, .create = true};

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

class RangeLocksTest : public ::testing::Test {
 protected:
  std::unique_ptr<PlainFile> open() { return PlainFile::open(directory_.path("a"), kNew).value(); }

  TestDirectory directory_;
};

// A waiter for a range, and whether it has been granted.
class Waiter {
 public:
  Waiter(RangeLocks& locks, int64_t begin, int64_t end, RangeLock lock)
      : thread_([this, &locks, begin, end, lock] {
          EXPECT_TRUE(locks.acquire(begin, end, lock));
          granted_ = true;
          locks.release(begin, end);
        }) {}
  ~Waiter() { thread_.join(); }
  [[nodiscard]] bool granted() const { return granted_; }
  void join_granted() {
    while (!granted_) std::this_thread::yield();
  }

 private:
  std::atomic<bool> granted_ = false;
  std::thread thread_;
};

TEST_F(RangeLocksTest, ThreadsOfOneOpenFileExcludeEachOther) {
  const auto file = open();
  RangeLocks locks(*file);
  ASSERT_TRUE(locks.acquire(10, 20, RangeLock::kExclusive));
  Waiter overlapping(locks, 19, 30, RangeLock::kExclusive);
  Waiter apart(locks, 20, 30, RangeLock::kExclusive);
  apart.join_granted();
  nap();
  EXPECT_FALSE(overlapping.granted());
  locks.release(10, 20);
  overlapping.join_granted();
  EXPECT_TRUE(locks.supported());
}

TEST_F(RangeLocksTest, TwoOpensExcludeEachOtherUnlessShared) {
  const auto file = open();
  const auto other_file = open();
  RangeLocks locks(*file);
  RangeLocks others(*other_file);
  ASSERT_TRUE(locks.acquire(0, 10, RangeLock::kShared));
  Waiter writer(others, 5, 6, RangeLock::kExclusive);
  nap();
  EXPECT_FALSE(writer.granted());
  const auto third_file = open();
  RangeLocks thirds(*third_file);
  ASSERT_TRUE(thirds.acquire(0, 3, RangeLock::kShared));
  thirds.release(0, 3);
  locks.release(0, 10);
  writer.join_granted();
}

TEST_F(RangeLocksTest, ProcessesExcludeEachOther) {
  const auto file = open();
  RangeLocks locks(*file);
  ASSERT_TRUE(locks.acquire(0, 8, RangeLock::kExclusive));
  const int64_t zero = 0;
  ASSERT_TRUE(file->write_at(0, std::as_bytes(std::span(&zero, 1))));
  locks.release(0, 8);
  constexpr int kProcesses = 3;
  constexpr int kRounds = 200;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto mine = open();
      RangeLocks my_locks(*mine);
      bool right = true;
      for (int round = 0; round < kRounds; ++round) {
        right = right && my_locks.acquire(0, 8, RangeLock::kExclusive);
        int64_t count = 0;
        right = right && mine->read_at(0, std::as_writable_bytes(std::span(&count, 1)));
        ++count;
        right = right && mine->write_at(0, std::as_bytes(std::span(&count, 1)));
        my_locks.release(0, 8);
      }
      ::_exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  int64_t count = 0;
  ASSERT_TRUE(file->read_at(0, std::as_writable_bytes(std::span(&count, 1))));
  EXPECT_EQ(count, kProcesses * kRounds);
}

// Random ranges of eight bytes: while a range is held, nobody else is inside it.
TEST_F(RangeLocksTest, RandomHoldersNeverMeet) {
  const uint64_t seed = test_seed();
  const auto file = open();
  RangeLocks locks(*file);
  std::atomic<int> inside[8] = {};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      SeededRandom random(seed + i);
      for (int round = 0; round < 300; ++round) {
        const uint64_t first = random.uniform(7);
        const auto begin = static_cast<int64_t>(first);
        const auto end = begin + 1 + static_cast<int64_t>(random.uniform(8 - first));
        const auto lock = random.chance(1, 2) ? RangeLock::kShared : RangeLock::kExclusive;
        ASSERT_TRUE(locks.acquire(begin, end, lock));
        for (auto byte = begin; byte < end; ++byte) ASSERT_EQ(inside[byte]++, 0);
        for (auto byte = begin; byte < end; ++byte) --inside[byte];
        locks.release(begin, end);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RangeLocks, WithoutLocksOfTheFileSystemThreadsStillExcludeEachOther) {
  for (const int answer : {ENOLCK, EOPNOTSUPP}) {
    int calls = 0;
    RangeLocks locks([&](int64_t, int64_t, RangeLock) -> base::Result<void> {
      ++calls;
      return base::fail_errno(answer, "lock");
    });
    ASSERT_TRUE(locks.acquire(0, 10, RangeLock::kExclusive));
    EXPECT_FALSE(locks.supported());
    Waiter waiter(locks, 0, 10, RangeLock::kExclusive);
    nap();
    EXPECT_FALSE(waiter.granted());
    locks.release(0, 10);
    waiter.join_granted();
    EXPECT_EQ(calls, 1);
  }
}

TEST(RangeLocks, OtherErrorsAreReportedAndHoldNothing) {
  int answer = EBADF;
  RangeLocks locks([&](int64_t, int64_t, RangeLock) -> base::Result<void> {
    if (answer == 0) return {};
    return base::fail_errno(answer, "lock");
  });
  EXPECT_EQ(locks.acquire(0, 10, RangeLock::kExclusive).error().errno_value, EBADF);
  EXPECT_TRUE(locks.supported());
  answer = 0;
  ASSERT_TRUE(locks.acquire(0, 10, RangeLock::kExclusive));
  locks.release(0, 10);
}

}  // namespace
}  // namespace tessera::port
