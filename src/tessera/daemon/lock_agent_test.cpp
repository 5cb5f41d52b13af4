// The lock agent of real processes: threads that share one, holders that are busy for long or
// frozen, servers that are killed or not there yet.
#include "tessera/lock/lock_agent.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tessera/daemon/lock_daemon.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_transport.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_processes.hpp"

namespace tessera::daemon {
namespace {

using lock::LockAgent;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLeaseNs = 300 * kMs;

void sleep_ns(int64_t nanoseconds) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
}

lock::LockClient::Asked bytes(int64_t begin, int64_t end) {
  return {.file = "f", .claim = {pattern::ByteSet::of({begin, end}).value()}};
}

// Without and with a claim board.
class LockAgentTest : public ::testing::TestWithParam<bool> {
 protected:
  ~LockAgentTest() override {
    if (server_ > 0) kill_server();
  }

  void start_server(bool restarted = false) {
    std::fflush(nullptr);
    server_ = ::fork();
    if (server_ != 0) return;
    const auto transport = port::PosixTransport::create().value();
    EXPECT_TRUE(transport->listen(address_));
    const port::PosixClock clock;
    port::SystemRandom random;
    lock::LockServerSettings settings;
    settings.lease_ns = settings.grace_ns = kLeaseNs;
    settings.restarted = restarted;
    LockDaemon daemon(settings, {*transport, clock, random}, [](const std::string&) {});
    if (GetParam()) daemon.offer_board(lock::BoardFile::create("f", random).value());
    daemon.serve(3'600'000 * kMs);
    ::_exit(0);
  }
  void kill_server() {
    ::kill(server_, SIGKILL);
    ::waitpid(server_, nullptr, 0);
    server_ = 0;
  }

  std::shared_ptr<LockAgent> agent(std::function<void()> revive = {}) {
    return LockAgent::on_sockets(address_, "test", std::nullopt, std::move(revive)).value();
  }

  const port::TestDirectory directory_ = {};
  const std::string address_ = "unix:" + directory_.path("locks");
  const port::PosixClock clock_ = {};
  pid_t server_ = 0;
};

TEST_P(LockAgentTest, ThreadsOfOneProcessTakeTurns) {
  start_server();
  const auto shared = agent();
  std::atomic<int> inside = 0;
  std::atomic<int> turns = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int turn = 0; turn < 50; ++turn) {
        const auto lock = shared->acquire(bytes(thread, 100 + thread));
        ASSERT_TRUE(lock);
        EXPECT_EQ(inside.fetch_add(1), 0);
        ++turns;
        EXPECT_EQ(inside.fetch_sub(1), 1);
        EXPECT_TRUE(shared->confirm(*lock));
        shared->release(*lock);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns, 200);
}

TEST_P(LockAgentTest, ALockOutlastsALongTransfer) {
  start_server();
  const auto busy = agent();
  const auto lock = busy->acquire(bytes(0, 100)).value();
  sleep_ns(4 * kLeaseNs);
  EXPECT_TRUE(busy->confirm(lock));
  const auto other = agent();
  auto now_or_never = bytes(50, 60);
  now_or_never.wait_ns = 0;
  EXPECT_EQ(other->acquire(now_or_never).error().code, base::Code::kRetry);
  busy->release(lock);
  EXPECT_TRUE(other->acquire(bytes(50, 60)));
}

TEST_P(LockAgentTest, AFrozenHolderIsToldThatItsLockIsGone) {
  start_server();
  struct Seen {
    std::atomic<int> held;
    std::atomic<int> code;
  };
  const port::SharedByChildren<Seen> seen;
  seen->code = -1;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto holder = agent();
    const auto lock = holder->acquire(bytes(0, 100)).value();
    seen->held = 1;
    while (seen->held != 2) sleep_ns(kMs);
    const auto confirmed = holder->confirm(lock);
    seen->code = confirmed ? 0 : 1 + static_cast<int>(confirmed.error().code);
    ::_exit(0);
  }
  while (seen->held == 0) sleep_ns(kMs);
  ::kill(child, SIGSTOP);
  const auto other = agent();
  EXPECT_TRUE(other->acquire(bytes(0, 100)));
  seen->held = 2;
  ::kill(child, SIGCONT);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(seen->code, 1 + static_cast<int>(base::Code::kDenied));
}

TEST_P(LockAgentTest, AHolderHearsOfItsLossAtTheNextLook) {
  start_server();
  const auto holder = agent();
  auto for_a_while = bytes(0, 100);
  for_a_while.hold_ns = 50 * kMs;
  const auto lock = holder->acquire(for_a_while).value();
  const auto other = agent();
  EXPECT_TRUE(other->acquire(bytes(0, 100)));
  // Whoever is answered later knows that the word of it is on its way.
  EXPECT_TRUE(other->acquire(bytes(200, 201)));
  const auto confirmed = holder->confirm(lock);
  ASSERT_FALSE(confirmed);
  EXPECT_EQ(confirmed.error().code, base::Code::kDenied);
}

TEST_P(LockAgentTest, ALockOutlastsItsServer) {
  start_server();
  const auto holder = agent();
  const auto lock = holder->acquire(bytes(0, 100)).value();
  for (int round = 0; round < 3; ++round) {
    kill_server();
    start_server(true);
    sleep_ns(2 * kLeaseNs);
    EXPECT_TRUE(holder->confirm(lock));
  }
}

TEST_P(LockAgentTest, AKeptLockCostsNoMessageUntilSomebodyWaitsForIt) {
  start_server();
  const auto keeper = agent();
  const auto kept = keeper->keep(bytes(0, 100)).value();
  for (int access = 0; access < 1000; ++access) {
    ASSERT_TRUE(kept->begin(clock_.now_ns()));
    EXPECT_TRUE(kept->confirm(clock_.now_ns()));
    kept->end();
  }
  sleep_ns(3 * kLeaseNs);
  ASSERT_TRUE(kept->begin(clock_.now_ns()));
  // In the middle of an access somebody asks: the access ends first.
  const auto other = agent();
  std::atomic<bool> granted = false;
  std::thread asking([&] {
    EXPECT_TRUE(other->acquire(bytes(50, 60)));
    granted = true;
  });
  while (!kept->over()) sleep_ns(kMs);
  EXPECT_FALSE(kept->begin(clock_.now_ns()));
  EXPECT_FALSE(granted);
  EXPECT_TRUE(kept->confirm(clock_.now_ns()));
  kept->end();
  asking.join();
  EXPECT_TRUE(granted);
}

TEST_P(LockAgentTest, AServerIsStartedWhenThereIsNone) {
  const auto first = agent([this] {
    if (server_ == 0) start_server();
  });
  EXPECT_TRUE(first->acquire(bytes(0, 100)));
  EXPECT_NE(server_, 0);
}

INSTANTIATE_TEST_SUITE_P(Boards, LockAgentTest, ::testing::Bool());

}  // namespace
}  // namespace tessera::daemon
