// The lock daemon among real processes and sockets: holders that are killed and frozen, a server
// that is killed, and clients that send garbage.
#include "tessera/daemon/lock_daemon.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "tessera/lock/lock_connection.hpp"
#include "tessera/pattern/model_test_support.hpp"
#include "tessera/port/authenticated_sockets.hpp"
#include "tessera/port/descriptor.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/socket_address.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_processes.hpp"

namespace tessera::daemon {
namespace {

using lock::LockClient;
using lock::Sequence;
using Kind = LockClient::Event::Kind;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLeaseNs = 300 * kMs;
constexpr int64_t kSlackNs = 1000 * kMs;

int64_t now_ns() { return port::PosixClock().now_ns(); }

// A client of this process.
class Client {
 public:
  explicit Client(const std::string& address, std::optional<port::SecretKey> key = std::nullopt)
      : sockets_(port::AuthenticatedSockets::create(std::move(key)).value()),
        connection_(address, "test", {sockets_->transport(), clock_}) {}

  Sequence ask(int64_t begin, int64_t end) {
    return connection_.ask({.file = "f", .claim = {pattern::ByteSet::of({begin, end}).value()}});
  }
  void release(Sequence sequence) { connection_.release(sequence); }
  // The next event of the request, if it comes within the time.
  std::optional<Kind> wait(Sequence sequence, int64_t for_ns = 10'000 * kMs) {
    const auto event = connection_.wait(sequence, for_ns);
    return event ? std::optional(event->kind) : std::nullopt;
  }
  void live(int64_t for_ns) { connection_.live(for_ns); }
  [[nodiscard]] bool holds(Sequence sequence) const { return connection_.holds(sequence); }
  // Why it is not connected.
  [[nodiscard]] base::Error trouble() const {
    return connection_.trouble().value_or(base::Error{});
  }

 private:
  const port::PosixClock clock_;
  const std::unique_ptr<port::AuthenticatedSockets> sockets_;
  lock::LockConnection connection_;
};

class LockDaemonTest : public ::testing::Test {
 protected:
  ~LockDaemonTest() override {
    while (!children_.empty()) end(children_.back());
  }

  // A child process; its failures are for it to report.
  pid_t spawn(const std::function<void()>& main) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      main();
      std::fflush(nullptr);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children_.push_back(child);
    return child;
  }

  pid_t serve(bool restarted) {
    return spawn([this, restarted] {
      const auto sockets = port::AuthenticatedSockets::create(key_).value();
      port::Transport& transport = sockets->transport();
      ASSERT_TRUE(transport.listen(address_));
      const std::string bound = transport.listen("tcp:127.0.0.1:0").value();
      lines_->tcp_port = std::stoi(bound.substr(bound.rfind(':') + 1));
      const port::PosixClock clock;
      port::SystemRandom random;
      lock::LockServerSettings settings;
      settings.lease_ns = settings.grace_ns = kLeaseNs;
      settings.restarted = restarted;
      LockDaemon daemon(settings, {transport, clock, random},
                        [this](const std::string&) { ++lines_->logged; });
      daemon.serve(3'600'000 * kMs);
    });
  }

  // Where a server that was started listens besides.
  std::string tcp_address() const {
    while (lines_->tcp_port == 0) ::usleep(1000);
    return "tcp:127.0.0.1:" + std::to_string(lines_->tcp_port);
  }

  // Takes a lock and keeps it as long as the process lives; returns when it is held.
  pid_t hold(int64_t begin, int64_t end) {
    lines_->held = 0;
    const pid_t child = spawn([this, begin, end] {
      Client client(address_);
      const Sequence sequence = client.ask(begin, end);
      ASSERT_EQ(client.wait(sequence), Kind::kGranted);
      lines_->held = 1;
      while (client.holds(sequence)) client.live(10 * kMs);
      lines_->held = 2;
      client.live(3'600'000 * kMs);
    });
    while (lines_->held == 0) ::usleep(1000);
    return child;
  }

  // Waits for bytes whose holder is stopped meanwhile, and holds them within its lease.
  static Sequence wait_out(Client& client, const std::function<void()>& stop_holder) {
    const Sequence sequence = client.ask(50, 60);
    client.live(20 * kMs);
    stop_holder();
    const int64_t stopped_ns = now_ns();
    EXPECT_EQ(client.wait(sequence), Kind::kGranted);
    EXPECT_LT(now_ns() - stopped_ns, kLeaseNs + kSlackNs);
    return sequence;
  }

  void end(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    std::erase(children_, child);
  }

  struct Lines {
    std::atomic<int> logged;
    std::atomic<int> tcp_port;
    std::atomic<int> held;  // 1 held, 2 lost
  };
  const port::TestDirectory directory_;
  const std::string address_ = "unix:" + directory_.path("locks");
  const port::SharedByChildren<Lines> lines_;
  port::SystemRandom random_;
  const port::SecretKey key_ = port::SecretKey::draw(random_);
  std::vector<pid_t> children_;
};

TEST_F(LockDaemonTest, ProcessesTakeTurns) {
  serve(false);
  constexpr int kRanks = 4;
  struct Place {
    std::atomic<int> inside;
    std::atomic<int> turns;
  };
  const port::SharedByChildren<Place> place;
  port::run_processes(kRanks, [&](int) {
    Client client(address_);
    for (int turn = 0; turn < 50; ++turn) {
      const Sequence sequence = client.ask(0, 100);
      ASSERT_EQ(client.wait(sequence), Kind::kGranted);
      EXPECT_EQ(place->inside.fetch_add(1), 0);
      ++place->turns;
      EXPECT_EQ(place->inside.fetch_sub(1), 1);
      client.release(sequence);
    }
  });
  EXPECT_EQ(place->turns, kRanks * 50);
}

TEST_F(LockDaemonTest, P1NobodyIsInBytesOfAnother) {
  serve(false);
  constexpr int64_t kBytes = 24;
  struct Place {
    std::array<std::atomic<int>, kBytes> inside;
    std::atomic<int> turns;
  };
  const port::SharedByChildren<Place> place;
  port::run_processes(4, [&](int rank) {
    Client client(address_);
    pattern::model::Engine engine(pattern::model::seed() + static_cast<uint64_t>(rank));
    for (int turn = 0; turn < pattern::model::rounds(500); ++turn) {
      const int64_t begin = pattern::model::uniform(engine, 0, kBytes - 3);
      const int64_t end = begin + pattern::model::uniform(engine, 1, 3);
      const Sequence sequence = client.ask(begin, end);
      ASSERT_EQ(client.wait(sequence), Kind::kGranted);
      for (int64_t i = begin; i < end; ++i) EXPECT_EQ(place->inside[size_t(i)].fetch_add(1), 0);
      ++place->turns;
      if (turn % 16 == 0) ::usleep(1000);
      for (int64_t i = begin; i < end; ++i) EXPECT_EQ(place->inside[size_t(i)].fetch_sub(1), 1);
      client.release(sequence);
    }
  });
  EXPECT_EQ(place->turns, 4 * pattern::model::rounds(500));
}

TEST_F(LockDaemonTest, P2AKilledHolderDelaysOthersByItsLease) {
  serve(false);
  Client client(address_);
  for (int round = 0; round < pattern::model::rounds(20); ++round) {
    const pid_t holder = hold(0, 100);
    const Sequence sequence = wait_out(client, [&] { end(holder); });
    client.release(sequence);
  }
}

TEST_F(LockDaemonTest, P2AFrozenHolderDoesTooAndLearnsOfIt) {
  serve(false);
  Client client(address_);
  for (int round = 0; round < pattern::model::rounds(20); ++round) {
    const pid_t holder = hold(0, 100);
    const Sequence sequence = wait_out(client, [&] { ::kill(holder, SIGSTOP); });
    EXPECT_EQ(lines_->held, 1);
    ::kill(holder, SIGCONT);
    for (int i = 0; i < 1000 && lines_->held == 1; ++i) client.live(5 * kMs);
    EXPECT_EQ(lines_->held, 2);
    client.release(sequence);
    end(holder);
  }
}

TEST_F(LockDaemonTest, P4AKilledServerForgetsNoLock) {
  pid_t server = serve(false);
  Client client(address_);
  const pid_t holder = hold(0, 100);
  for (int round = 0; round < pattern::model::rounds(4); ++round) {
    end(server);
    server = serve(true);
    const Sequence sequence = client.ask(50, 60);
    EXPECT_EQ(client.wait(sequence, 3 * kLeaseNs), std::nullopt);
    EXPECT_EQ(lines_->held, 1);
    const Sequence other = client.ask(200, 300);
    EXPECT_EQ(client.wait(other), Kind::kGranted);
    client.release(other);
    client.release(sequence);
  }
  end(holder);
}

// The control: a server that does not wait for those who had locks grants them twice.
TEST_F(LockDaemonTest, P4ControlAServerWithoutGraceDoes) {
  const pid_t server = serve(false);
  const pid_t holder = hold(0, 100);
  end(server);
  ::kill(holder, SIGSTOP);
  serve(false);
  Client client(address_);
  EXPECT_EQ(client.wait(client.ask(50, 60), kLeaseNs / 2), Kind::kGranted);
}

// A socket that sends what it likes.
port::Descriptor raw_socket(const std::string& address) {
  const auto where = port::parse_socket_address(address).value();
  port::Descriptor made(::socket(where.family(), SOCK_STREAM, 0));
  EXPECT_EQ(::connect(made.number(), where.raw(), where.size), 0);
  return made;
}

// Connections that send garbage, announce too much, and stop inside a frame.
std::vector<port::Descriptor> bad_clients(const std::string& address) {
  std::vector<port::Descriptor> sockets;
  for (const std::string_view bytes :
       {std::string_view("\x08\0\0\0garbage!", 12), std::string_view("\xff\xff\xff\xff", 4),
        std::string_view("\x40\0\0\0half", 8), std::string_view("\x01", 1)}) {
    for (int i = 0; i < 20; ++i) {
      sockets.push_back(raw_socket(address));
      EXPECT_EQ(::send(sockets.back().number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(bytes.size()));
    }
  }
  return sockets;
}

TEST_F(LockDaemonTest, GarbageAndHalfFramesHarmNobody) {
  serve(false);
  Client client(address_);
  const Sequence sequence = client.ask(0, 100);
  ASSERT_EQ(client.wait(sequence), Kind::kGranted);
  auto sockets = bad_clients(address_);
  for (port::Descriptor& made : bad_clients(tcp_address())) sockets.push_back(std::move(made));
  client.live(3 * kLeaseNs);
  EXPECT_TRUE(client.holds(sequence));
  EXPECT_GE(lines_->logged, 1);
  EXPECT_LE(lines_->logged, 3);
  sockets.clear();
  client.release(sequence);
  const Sequence again = client.ask(0, 100);
  EXPECT_EQ(client.wait(again), Kind::kGranted);
}

TEST_F(LockDaemonTest, LocksOverTcpExcludeThoseOverAUnixSocket) {
  serve(false);
  Client near(address_);
  Client far(tcp_address(), key_);
  const Sequence first = far.ask(0, 100);
  ASSERT_EQ(far.wait(first), Kind::kGranted);
  const Sequence second = near.ask(50, 60);
  EXPECT_EQ(near.wait(second, kLeaseNs / 3), std::nullopt);
  far.release(first);
  far.live(10 * kMs);
  EXPECT_EQ(near.wait(second), Kind::kGranted);
}

TEST_F(LockDaemonTest, WhoHasAnotherKeyGetsNothingAndHarmsNobody) {
  serve(false);
  Client client(tcp_address(), key_);
  const Sequence held = client.ask(0, 100);
  ASSERT_EQ(client.wait(held), Kind::kGranted);
  Client stranger(tcp_address(), port::SecretKey::draw(random_));
  const Sequence sequence = stranger.ask(200, 300);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(stranger.wait(sequence, kLeaseNs / 10), std::nullopt);
    client.live(kMs);
  }
  EXPECT_EQ(stranger.trouble().code, base::Code::kDenied);
  EXPECT_NE(stranger.trouble().context.find("another key"), std::string::npos);
  // Dozens of attempts, and a line a second.
  EXPECT_GE(lines_->logged, 1);
  EXPECT_LE(lines_->logged, 3);
  EXPECT_TRUE(client.holds(held));
  // The control: with the key the same request is granted.
  Client friendly(tcp_address(), key_);
  EXPECT_EQ(friendly.wait(friendly.ask(200, 300)), Kind::kGranted);
  EXPECT_EQ(friendly.trouble().context, "");
}

}  // namespace
}  // namespace tessera::daemon
