// What process_team.hpp promises beyond exchange.hpp and team.hpp, whose rules exchange_test.cpp
// and team_test.cpp hold.
#include "tessera/port/process_team.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "tessera/port/posix_clock.hpp"
#include "tessera/port/test_processes.hpp"

namespace tessera::port {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

int64_t cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

TEST(ProcessTeam, AFounderIsATeamOfOne) {
  const auto team = ProcessTeam::found(1, {}).value();
  EXPECT_EQ(team->rank(), 0);
  EXPECT_EQ(team->size(), 1);
  EXPECT_EQ(team->address().process, ::getpid());
  EXPECT_TRUE(team->barrier());
}

TEST(ProcessTeam, OnlyTheTeamsOwnMemoryIsJoined) {
  const auto team = ProcessTeam::found(3, {}).value();
  TeamAddress address = team->address();
  EXPECT_TRUE(ProcessTeam::join(address, 2, {}));
  for (const int rank : {-1, 0, 3}) {
    EXPECT_EQ(ProcessTeam::join(address, rank, {}).error().code, base::Code::kInvalid);
  }
  ++address.token;
  EXPECT_EQ(ProcessTeam::join(address, 1, {}).error().code, base::Code::kInvalid);
  address = team->address();
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  address.descriptor = pipe_ends[0];
  EXPECT_EQ(ProcessTeam::join(address, 1, {}).error().code, base::Code::kInvalid);
  const auto small = MemoryFile::create(10).value();
  address.descriptor = small.descriptor();
  EXPECT_EQ(ProcessTeam::join(address, 1, {}).error().code, base::Code::kInvalid);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  address.descriptor = pipe_ends[0];
  EXPECT_EQ(ProcessTeam::join(address, 1, {}).error().errno_value, ENOENT);
}

TEST(ProcessTeam, M3TheMemoryHasNoNameAndGoesWithAKilledFounder) {
  const SharedByChildren<std::atomic<int>> step;
  const SharedByChildren<TeamAddress> address;
  const pid_t founder = ::fork();
  ASSERT_GE(founder, 0);
  if (founder == 0) {
    const auto team = ProcessTeam::found(2, {}).value();
    *address = team->address();
    *step = 1;
    for (;;) ::pause();
  }
  while (*step == 0) ::usleep(100);
  {
    const auto member = ProcessTeam::join(*address, 1, {}).value();
    const auto file = MemoryFile::open(address->process, address->descriptor).value();
    struct stat status {};
    ASSERT_EQ(::fstat(file.descriptor(), &status), 0);
    EXPECT_EQ(status.st_nlink, 0U);
  }
  ASSERT_EQ(::kill(founder, SIGKILL), 0);
  ASSERT_EQ(::waitpid(founder, nullptr, 0), founder);
  EXPECT_EQ(ProcessTeam::join(*address, 1, {}).error().errno_value, ENOENT);
}

TEST(ProcessTeam, AWaitingRankIsIdleAboutEveryMillisecondAndSleepsBetween) {
  int idles = 0;
  run_process_team(
      2,
      [&](ProcessTeam& team) {
        if (team.rank() == 1) {
          ::usleep(100'000);
          EXPECT_TRUE(team.barrier());
          return;
        }
        idles = 0;
        const int64_t before = cpu_ns();
        const int64_t begin = PosixClock().now_ns();
        EXPECT_TRUE(team.barrier());
        const int64_t waited = PosixClock().now_ns() - begin;
        EXPECT_GE(idles, 5);
        EXPECT_LE(idles, waited / kMillisecond + 10);
        EXPECT_LT(cpu_ns() - before, 50 * kMillisecond);
      },
      [&] { ++idles; });
}

TEST(ProcessTeam, E3ARankThatLeavesWakesTheSleepers) {
  run_process_team(3, [](ProcessTeam& team) {
    if (team.rank() == 1) {
      ::usleep(20'000);
      return;
    }
    const int64_t begin = PosixClock().now_ns();
    const auto met = team.barrier();
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().context, "rank 1 has left");
    EXPECT_LT(PosixClock().now_ns() - begin, 5'000 * kMillisecond);
  });
}

TEST(ProcessTeam, CountersBelongToAllRanks) {
  run_process_team(4, [](ProcessTeam& team) {
    EXPECT_EQ(team.load(ProcessTeam::kCounters - 1), 0);
    for (int i = 0; i < 1000; ++i) (void)team.fetch_add(3, 2);
    ASSERT_TRUE(team.barrier());
    EXPECT_EQ(team.load(3), 8000);
    ASSERT_TRUE(team.barrier());
    if (team.rank() == 2) team.store(3, -7);
    ASSERT_TRUE(team.barrier());
    EXPECT_EQ(team.load(3), -7);
    EXPECT_EQ(team.load(2), 0);
    EXPECT_EQ(team.fetch_add(10 + team.rank(), 5), 0);
  });
}

TEST(ProcessTeam, AChildOfARankDoesNotLeaveForIt) {
  auto team = ProcessTeam::found(1, {}).value();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    team.reset();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(team->barrier());
}

TEST(ProcessTeam, MemoryThatCannotBeHadFailsOnAllRanksAlike) {
  run_process_team(2, [](ProcessTeam& team) {
    const auto memory = team.common_memory(1000).value();
    EXPECT_FALSE(team.common_memory(int64_t{1} << 60));
    memory[static_cast<size_t>(team.rank())] = std::byte{7};
    ASSERT_TRUE(team.barrier());
    EXPECT_EQ(memory[0], std::byte{7});
    EXPECT_EQ(team.common_memory(1000).value().data(), memory.data());
  });
}

}  // namespace
}  // namespace tessera::port
