// The lock agent of real processes: threads that share one, holders that are busy for long or
// frozen, servers that are killed or not there yet.
#include "tessera/lock/lock_agent.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tessera/daemon/lock_daemon.hpp"
#include "tessera/daemon/proxy_daemon.hpp"
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

class LockAgentTest : public ::testing::Test {
 protected:
  ~LockAgentTest() override {
    if (server_ > 0) kill_server();
  }

  void start_server(bool restarted = false, size_t sessions_max = 100, size_t for_proxies = 0,
                    const port::TransportLimits& limits = {}) {
    std::fflush(nullptr);
    server_ = ::fork();
    if (server_ != 0) return;
    const auto transport = port::PosixTransport::create(limits).value();
    EXPECT_TRUE(transport->listen(address_));
    const port::PosixClock clock;
    port::SystemRandom random;
    lock::LockServerSettings settings;
    settings.lease_ns = settings.grace_ns = kLeaseNs;
    settings.restarted = restarted;
    settings.sessions_max = sessions_max;
    settings.sessions_for_proxies = for_proxies;
    LockDaemon daemon(settings, {*transport, clock, random}, [](const std::string&) {});
    daemon.serve(3'600'000 * kMs);
    ::_exit(0);
  }
  void kill_server() {
    ::kill(server_, SIGKILL);
    ::waitpid(server_, nullptr, 0);
    server_ = 0;
  }

  std::shared_ptr<LockAgent> agent(lock::LockConnection::Starters starters = {}) {
    return LockAgent::on_sockets(address_, "test", std::nullopt, std::move(starters)).value();
  }

  const port::TestDirectory directory_ = {};
  const std::string address_ = "unix:" + directory_.path("locks");
  const port::PosixClock clock_ = {};
  pid_t server_ = 0;
};

TEST_F(LockAgentTest, ThreadsOfOneProcessTakeTurns) {
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

TEST_F(LockAgentTest, ALockOutlastsALongTransfer) {
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

TEST_F(LockAgentTest, AFrozenHolderIsToldThatItsLockIsGone) {
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

TEST_F(LockAgentTest, AHolderHearsOfItsLossAtTheNextLook) {
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

TEST_F(LockAgentTest, ALockOutlastsItsServer) {
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

TEST_F(LockAgentTest, ACachedLockCostsNoMessageUntilSomebodyWaitsForIt) {
  start_server();
  const auto keeper = agent();
  const auto cached = keeper->acquire_cached(bytes(0, 100)).value();
  for (int access = 0; access < 1000; ++access) {
    ASSERT_TRUE(cached->begin(clock_.now_ns()));
    EXPECT_TRUE(cached->confirm(clock_.now_ns()));
    cached->end();
  }
  sleep_ns(3 * kLeaseNs);
  ASSERT_TRUE(cached->begin(clock_.now_ns()));
  // In the middle of an access somebody asks: the access ends first.
  const auto other = agent();
  std::atomic<bool> granted = false;
  std::thread asking([&] {
    EXPECT_TRUE(other->acquire(bytes(50, 60)));
    granted = true;
  });
  while (!cached->over()) sleep_ns(kMs);
  EXPECT_FALSE(cached->begin(clock_.now_ns()));
  EXPECT_FALSE(granted);
  EXPECT_TRUE(cached->confirm(clock_.now_ns()));
  cached->end();
  asking.join();
  EXPECT_TRUE(granted);
}

// A child that may open no more descriptors, and what it is told; later it may again.
TEST_F(LockAgentTest, WhoIsOutOfDescriptorsIsToldAtOnce) {
  start_server();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lacking = agent();
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none = {0, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
    const auto asked = lacking->acquire(bytes(0, 100));
    const bool named =
        !asked && asked.error().message().find("Too many open files") != std::string::npos;
    ::setrlimit(RLIMIT_NOFILE, &before);
    const bool recovers = lacking->acquire(bytes(0, 100)).has_value();
    ::_exit((named ? 0 : 1) + (recovers ? 0 : 2));
  }
  int status = -1;
  const int64_t begin_ns = clock_.now_ns();
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_LT(clock_.now_ns() - begin_ns, 10'000 * kMs);
}

TEST_F(LockAgentTest, WhoFindsNoRoomIsToldAtOnce) {
  start_server(false, 1);
  const auto first = agent();
  const auto held = first->acquire(bytes(0, 100));
  ASSERT_TRUE(held);
  const int64_t begin_ns = clock_.now_ns();
  const auto refused = agent()->acquire(bytes(200, 300));
  EXPECT_LT(clock_.now_ns() - begin_ns, 10'000 * kMs);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().context.find("ulimit -n"), std::string::npos);
  EXPECT_TRUE(first->confirm(*held));
}

// A server has few connections; who has not asked for a lease is not to be in the way of others.
TEST_F(LockAgentTest, WhoAsksForNothingTakesNoConnection) {
  start_server(false, 100, 0, {.connections_max = 2});
  const auto first = agent();
  const auto second = agent();
  for (const auto& one : {first, second}) {
    const auto lock = one->acquire(bytes(0, 100));
    ASSERT_TRUE(lock);
    one->release(*lock);
  }
  sleep_ns(2 * kLeaseNs);
  const auto third = agent();
  const auto held = third->acquire(bytes(0, 100));
  ASSERT_TRUE(held) << held.error().message();
  third->release(*held);
  EXPECT_TRUE(first->acquire(bytes(0, 100)));
}

TEST_F(LockAgentTest, ASessionThatIsKeptOutlastsAPause) {
  start_server(false, 1);
  for (const bool keeps : {false, true}) {
    const auto first = agent();
    // The session of the one before may not have ended yet.
    auto lock = first->acquire(bytes(0, 100));
    for (int wait = 0; !lock && wait < 1000; ++wait) {
      sleep_ns(10 * kMs);
      lock = first->acquire(bytes(0, 100));
    }
    ASSERT_TRUE(lock);
    first->release(*lock);
    if (keeps) first->keep_session();
    sleep_ns(3 * kLeaseNs);
    // The only session there is.
    const auto other = agent();
    EXPECT_EQ(other->acquire(bytes(0, 100)).has_value(), !keeps);
  }
}

// Of a peer that takes connections and ends them, as one without room does, nobody is reached.
TEST_F(LockAgentTest, APeerThatNeverAnswersIsNotReached) {
  const auto peer = port::PosixTransport::create().value();
  ASSERT_TRUE(peer->listen(address_));
  const auto transport = port::PosixTransport::create().value();
  int revived = 0;
  lock::LockConnection connection(address_, "test",
                                  {*transport, clock_, {.revive = [&] { ++revived; }}});
  const int64_t begin_ns = clock_.now_ns();
  static_cast<void>(connection.ask(bytes(0, 100)));
  int taken = 0;
  while (taken < 5 && clock_.now_ns() - begin_ns < 10'000 * kMs) {
    connection.step(clock_.now_ns() + kMs);
    while (const auto event = peer->next_event(0)) {
      if (event->kind != port::Event::Kind::kConnected) continue;
      ++taken;
      peer->close(event->connection);
    }
  }
  EXPECT_EQ(taken, 5);
  EXPECT_LE(connection.reached_ns(), begin_ns);
  EXPECT_GT(revived, 0);
}

TEST_F(LockAgentTest, WhoFindsNoRoomGoesThroughAProxy) {
  start_server(false, 2, 1);
  const auto first = agent();
  const auto held = first->acquire(bytes(0, 100));
  ASSERT_TRUE(held);
  const std::string proxy_address = "unix:" + directory_.path("proxy");
  pid_t proxy = 0;
  const auto start_proxy = [&]() -> base::Result<std::string> {
    std::fflush(nullptr);
    if (proxy == 0) proxy = ::fork();
    if (proxy != 0) return proxy_address;
    const auto transport = port::PosixTransport::create().value();
    EXPECT_TRUE(transport->listen(proxy_address));
    const port::PosixClock clock;
    port::SystemRandom random;
    ProxyDaemon daemon(address_, "proxy", {*transport, clock, random}, [](const std::string&) {});
    daemon.serve(3'600'000 * kMs);
    ::_exit(0);
  };
  const auto second = agent({.start_proxy = start_proxy});
  EXPECT_TRUE(second->acquire(bytes(200, 300)));
  ASSERT_NE(proxy, 0);
  auto now_or_never = bytes(50, 60);
  now_or_never.wait_ns = 0;
  EXPECT_EQ(second->acquire(now_or_never).error().code, base::Code::kRetry);
  EXPECT_TRUE(first->confirm(*held));
  // One that was killed is started again.
  ::kill(proxy, SIGKILL);
  ::waitpid(proxy, nullptr, 0);
  proxy = 0;
  first->release(*held);
  EXPECT_TRUE(second->acquire(bytes(50, 60)));
  ::kill(proxy, SIGKILL);
  ::waitpid(proxy, nullptr, 0);
}

TEST_F(LockAgentTest, AServerIsStartedWhenThereIsNone) {
  const auto first = agent({.revive = [this] {
    if (server_ == 0) start_server();
  }});
  EXPECT_TRUE(first->acquire(bytes(0, 100)));
  EXPECT_NE(server_, 0);
}

}  // namespace
}  // namespace tessera::daemon
