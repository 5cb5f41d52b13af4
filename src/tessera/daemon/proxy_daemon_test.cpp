// The proxy daemon on real sockets: a server and the proxies of two nodes in threads.
#include "tessera/daemon/proxy_daemon.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tessera/daemon/lock_daemon.hpp"
#include "tessera/lock/lock_connection.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_transport.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::daemon {
namespace {

using lock::LockClient;
using lock::Sequence;
using Kind = LockClient::Event::Kind;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLeaseNs = 900 * kMs;
constexpr int64_t kPatienceNs = 20'000 * kMs;

// A daemon in a thread, until it is stopped or goes.
class Running {
 public:
  using Make = std::function<std::unique_ptr<FrameDaemon>(const FrameDaemon::World& world)>;
  Running(const std::string& address, const Make& make)
      : transport_(port::PosixTransport::create().value()) {
    EXPECT_TRUE(transport_->listen(address));
    daemon_ = make({*transport_, clock_, random_});
    thread_ = std::thread([this] { daemon_->serve(int64_t{3'600'000} * kMs); });
  }
  ~Running() { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    daemon_->stop();
    transport_->wake();
    thread_.join();
  }
  // Requires that it was stopped.
  template <typename Daemon>
  [[nodiscard]] const Daemon& as() const {
    return dynamic_cast<const Daemon&>(*daemon_);
  }

 private:
  const port::PosixClock clock_;
  port::SystemRandom random_;
  const std::unique_ptr<port::PosixTransport> transport_;
  std::unique_ptr<FrameDaemon> daemon_;
  std::thread thread_;
};

class Process {
 public:
  explicit Process(const std::string& address)
      : transport_(port::PosixTransport::create().value()),
        connection_(address, "process", {*transport_, clock_}) {}

  Sequence ask(int64_t begin, int64_t end) {
    return connection_.ask({.file = "f", .claim = {pattern::ByteSet::of({begin, end}).value()}});
  }
  [[nodiscard]] bool gets(Sequence sequence) {
    const auto event = connection_.wait(sequence, kPatienceNs);
    return event && event->kind == Kind::kGranted;
  }
  lock::LockConnection& connection() { return connection_; }

 private:
  const port::PosixClock clock_;
  const std::unique_ptr<port::PosixTransport> transport_;
  lock::LockConnection connection_;
};

class ProxyDaemonTest : public ::testing::Test {
 protected:
  std::unique_ptr<Running> serve() {
    return std::make_unique<Running>(server_, [](const FrameDaemon::World& world) {
      lock::LockServerSettings settings;
      settings.lease_ns = settings.grace_ns = kLeaseNs;
      return std::make_unique<LockDaemon>(settings, world, [](const std::string&) {});
    });
  }
  std::unique_ptr<Running> proxy(const std::string& address) {
    return std::make_unique<Running>(address, [this](const FrameDaemon::World& world) {
      return std::make_unique<ProxyDaemon>(server_, "proxy", world, [](const std::string&) {});
    });
  }

  const port::TestDirectory directory_;
  const std::string server_ = "unix:" + directory_.path("server");
  const std::string one_ = "unix:" + directory_.path("one");
  const std::string other_ = "unix:" + directory_.path("other");
};

TEST_F(ProxyDaemonTest, ProcessesOfTwoNodesTakeTurns) {
  const auto server = serve();
  const auto one = proxy(one_);
  const auto other = proxy(other_);
  constexpr int kTurns = 50;
  std::atomic<int> inside = 0;
  std::atomic<int> turns = 0;
  std::vector<std::thread> processes;
  for (const std::string& address : {one_, one_, other_, other_}) {
    processes.emplace_back([&, address] {
      Process process(address);
      for (int turn = 0; turn < kTurns; ++turn) {
        const Sequence sequence = process.ask(0, 100);
        EXPECT_TRUE(process.gets(sequence));
        EXPECT_EQ(inside.fetch_add(1), 0);
        ++turns;
        EXPECT_EQ(inside.fetch_sub(1), 1);
        process.connection().release(sequence);
      }
    });
  }
  for (std::thread& process : processes) process.join();
  EXPECT_EQ(turns, 4 * kTurns);
  one->stop();
  other->stop();
  EXPECT_GE(one->as<ProxyDaemon>().proxy().counts().passed +
                other->as<ProxyDaemon>().proxy().counts().passed,
            1U);
}

TEST_F(ProxyDaemonTest, ANodeAloneAsksOnce) {
  const auto server = serve();
  const auto one = proxy(one_);
  Process process(one_);
  for (int i = 0; i < 200; ++i) {
    const Sequence sequence = process.ask(i, i + 10);
    ASSERT_TRUE(process.gets(sequence));
    process.connection().release(sequence);
  }
  server->stop();
  EXPECT_EQ(server->as<LockDaemon>().server().counts().granted, 1U);
}

TEST_F(ProxyDaemonTest, TheServerMayComeLater) {
  const auto one = proxy(one_);
  Process process(one_);
  const Sequence sequence = process.ask(0, 10);
  process.connection().live(100 * kMs);
  EXPECT_FALSE(process.connection().holds(sequence));
  const auto server = serve();
  EXPECT_TRUE(process.gets(sequence));
}

TEST_F(ProxyDaemonTest, WhatAProxyHadIsFreeWhenItIsGone) {
  const auto server = serve();
  auto one = proxy(one_);
  const auto other = proxy(other_);
  Process process(one_);
  const Sequence sequence = process.ask(0, 10);
  ASSERT_TRUE(process.gets(sequence));
  one.reset();
  Process heir(other_);
  const Sequence inherited = heir.ask(0, 10);
  EXPECT_TRUE(heir.gets(inherited));
  // Its process has given up before.
  EXPECT_FALSE(process.connection().holds(sequence));
  const auto lost = process.connection().wait(sequence, kPatienceNs);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->kind, Kind::kLost);
}

}  // namespace
}  // namespace tessera::daemon
