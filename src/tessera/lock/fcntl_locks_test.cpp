#include "tessera/lock/fcntl_locks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

#include "tessera/port/test_directory.hpp"

namespace tessera::lock {
namespace {

using pattern::ByteSet;

class FcntlLocksTest : public ::testing::Test {
 protected:
  static constexpr port::OpenMode kNew = {.read = true, .write = true, .create = true};

  [[nodiscard]] std::unique_ptr<port::PlainFile> open(const port::OpenMode& mode = kNew) const {
    return port::PlainFile::open(directory_.path("a"), mode).value();
  }

  // Whether another open of the file may lock the byte now.
  [[nodiscard]] bool is_free(int64_t byte, short type) const {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = byte;
    range.l_len = 1;
    EXPECT_EQ(::fcntl(other_->descriptor(), F_OFD_GETLK, &range), 0);
    return range.l_type == F_UNLCK;
  }

  const port::TestDirectory directory_;
  const std::unique_ptr<port::PlainFile> file_ = open();
  const std::unique_ptr<port::PlainFile> other_ = open();
  FcntlLocks locks_{*file_};
};

ByteSet two_runs() {
  return unite(ByteSet::of({10, 12}).value(), ByteSet::of({20, 24}).value()).value();
}

TEST_F(FcntlLocksTest, AnExclusiveLockCoversTheSpanOfTheSetUntilItGoes) {
  {
    const Held held = locks_.acquire(two_runs(), Mode::kExclusive).value();
    EXPECT_TRUE(is_free(9, F_WRLCK));
    EXPECT_FALSE(is_free(10, F_RDLCK));
    EXPECT_FALSE(is_free(15, F_RDLCK));
    EXPECT_FALSE(is_free(23, F_RDLCK));
    EXPECT_TRUE(is_free(24, F_WRLCK));
  }
  EXPECT_TRUE(is_free(10, F_WRLCK));
  EXPECT_TRUE(locks_.supported());
}

TEST_F(FcntlLocksTest, L1SharedLocksKeepOnlyWritersOut) {
  const Held held = locks_.acquire(two_runs(), Mode::kShared).value();
  EXPECT_TRUE(is_free(10, F_RDLCK));
  EXPECT_FALSE(is_free(10, F_WRLCK));
}

TEST_F(FcntlLocksTest, AHeldLockMovesAndIsGivenBackOnce) {
  Held held = locks_.acquire(two_runs(), Mode::kExclusive).value();
  Held moved = std::move(held);
  EXPECT_FALSE(is_free(10, F_RDLCK));
  moved.release();
  EXPECT_TRUE(is_free(10, F_WRLCK));
  moved = locks_.acquire(two_runs(), Mode::kExclusive).value();
  moved = Held();
  EXPECT_TRUE(is_free(10, F_WRLCK));
}

TEST_F(FcntlLocksTest, AnEmptySetNeedsNone) {
  const Held all = locks_.acquire(ByteSet::of({0, 100}).value(), Mode::kExclusive).value();
  EXPECT_TRUE(locks_.acquire(ByteSet(), Mode::kExclusive));
}

TEST_F(FcntlLocksTest, AWriteLockNeedsAFileThatIsOpenForWriting) {
  const auto reader = open({});
  FcntlLocks locks(*reader);
  EXPECT_EQ(locks.acquire(two_runs(), Mode::kExclusive).error().errno_value, EBADF);
  EXPECT_TRUE(locks.acquire(two_runs(), Mode::kShared));
}

}  // namespace
}  // namespace tessera::lock
