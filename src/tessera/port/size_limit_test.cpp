#include "tessera/port/size_limit.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tessera/port/memory_file.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_processes.hpp"

namespace tessera::port {
namespace {

constexpr int64_t kLimit = 8192;

void set_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = kLimit;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// In a process of its own, which a signal that came through would end.
void run_limited(const std::function<void()>& body) {
  run_processes(1, [&](int) {
    set_limit();
    body();
  });
}

bool is_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGXFSZ) == 1;
}

TEST(SizeLimit, IsAnErrorOfWhoeverExceedsIt) {
  const TestDirectory directory;
  run_limited([&] {
    const auto file =
        PlainFile::open(directory.path("file"), {.read = true, .write = true, .create = true})
            .value();
    const base::Bytes bytes(100, std::byte{7});
    ASSERT_TRUE(file->write_at(kLimit - 50, base::ByteView(bytes).first(50)));
    const Transfer far = file->write_at(kLimit - 50, bytes);
    EXPECT_EQ(far.bytes, 50);
    EXPECT_EQ(far.status.error().errno_value, EFBIG);
    EXPECT_EQ(file->truncate(kLimit + 1).error().errno_value, EFBIG);
    EXPECT_EQ(file->reserve(kLimit + 1).error().errno_value, EFBIG);
    EXPECT_EQ(file->reserve_range(10, kLimit + 1).error().errno_value, EFBIG);
    file->set_ring_use(RingUse::kAlways);
    std::vector<WriteSegment> segments;
    for (int64_t i = 0; i < 100; ++i) segments.push_back({i * 200, bytes});
    EXPECT_EQ(file->write_list(segments).status.error().errno_value, EFBIG);
    EXPECT_EQ(MemoryFile::create(kLimit + 1).error().errno_value, EFBIG);
    auto memory = MemoryFile::create(10);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->grow(kLimit + 1).error().errno_value, EFBIG);
    EXPECT_FALSE(is_pending());
  });
}

// A program may set its limit when it has files open, also below what they have already.
TEST(SizeLimit, IsAnErrorAlsoIfItComesAfterTheOpen) {
  const TestDirectory directory;
  run_processes(1, [&](int) {
    const auto open = [&] {
      return PlainFile::open(directory.path("file"), {.read = true, .write = true, .create = true})
          .value();
    };
    const auto file = open();
    file->set_ring_use(RingUse::kAlways);
    const base::Bytes bytes(100, std::byte{7});
    ASSERT_TRUE(open()->write_at(2 * kLimit, bytes));
    ASSERT_TRUE(file->write_at(kLimit - 100, bytes));
    set_limit();
    for (const int64_t at : {kLimit, 2 * kLimit, 3 * kLimit}) {
      EXPECT_EQ(file->write_at(at, bytes).status.error().errno_value, EFBIG);
      std::vector<WriteSegment> segments;
      for (int64_t i = 0; i < 100; ++i) segments.push_back({at + i * 200, bytes});
      EXPECT_EQ(file->write_list(segments).status.error().errno_value, EFBIG);
    }
    // The file is longer than that, so the system would reserve it.
    EXPECT_EQ(file->reserve_range(kLimit, kLimit + 1).error().errno_value, EFBIG);
    EXPECT_TRUE(file->write_at(kLimit - 100, bytes));
    EXPECT_FALSE(is_pending());
  });
}

volatile sig_atomic_t g_signals = 0;
void count_signal(int /*number*/) { g_signals = g_signals + 1; }

TEST(SizeLimit, LeavesTheProgramsSignalsAlone) {
  run_limited([&] {
    ::signal(SIGXFSZ, count_signal);
    EXPECT_FALSE(MemoryFile::create(kLimit + 1));
    EXPECT_EQ(g_signals, 0);
    ::raise(SIGXFSZ);
    EXPECT_EQ(g_signals, 1);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGXFSZ);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    EXPECT_FALSE(MemoryFile::create(kLimit + 1));
    EXPECT_FALSE(is_pending());
    ::raise(SIGXFSZ);
    EXPECT_FALSE(MemoryFile::create(kLimit + 1));
    EXPECT_TRUE(is_pending());
    ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
    EXPECT_EQ(g_signals, 2);
  });
}

TEST(SizeLimit, IsThereOrNot) {
  run_limited([] { EXPECT_TRUE(has_size_limit()); });
}

}  // namespace
}  // namespace tessera::port
