// The lock daemon among real processes and sockets: holders that are killed and frozen, a server
// that is killed, and clients that send garbage.
#include "tessera/daemon/lock_daemon.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "tessera/lock/lock_connection.hpp"
#include "tessera/pattern/model_test_support.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_transport.hpp"
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
  explicit Client(const std::string& address)
      : connection_(address, "test", {*transport_, clock_}) {}

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

 private:
  const port::PosixClock clock_;
  const std::unique_ptr<port::PosixTransport> transport_ = port::PosixTransport::create().value();
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
      const auto transport = port::PosixTransport::create().value();
      ASSERT_TRUE(transport->listen(address_));
      const port::PosixClock clock;
      port::SystemRandom random;
      lock::LockServerSettings settings;
      settings.lease_ns = settings.grace_ns = kLeaseNs;
      settings.restarted = restarted;
      LockDaemon daemon(settings, {*transport, clock, random},
                        [this](const std::string&) { ++lines_->logged; });
      daemon.serve(3'600'000 * kMs);
    });
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
    std::atomic<int> held;  // 1 held, 2 lost
  };
  const port::TestDirectory directory_;
  const std::string address_ = "unix:" + directory_.path("locks");
  const port::SharedByChildren<Lines> lines_;
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

int raw_socket(const std::string& path) {
  const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::strncpy(where.sun_path, path.c_str(), sizeof(where.sun_path) - 1);
  EXPECT_EQ(::connect(made, reinterpret_cast<const sockaddr*>(&where), sizeof(where)), 0);
  return made;
}

TEST_F(LockDaemonTest, GarbageAndHalfFramesHarmNobody) {
  serve(false);
  Client client(address_);
  const Sequence sequence = client.ask(0, 100);
  ASSERT_EQ(client.wait(sequence), Kind::kGranted);
  std::vector<int> sockets;
  const std::string path = directory_.path("locks");
  for (const std::string_view bytes :
       {std::string_view("\x08\0\0\0garbage!", 12), std::string_view("\xff\xff\xff\xff", 4),
        std::string_view("\x40\0\0\0half", 8), std::string_view("\x01", 1)}) {
    for (int i = 0; i < 20; ++i) {
      sockets.push_back(raw_socket(path));
      EXPECT_EQ(::send(sockets.back(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(bytes.size()));
    }
  }
  client.live(3 * kLeaseNs);
  EXPECT_TRUE(client.holds(sequence));
  EXPECT_GE(lines_->logged, 1);
  EXPECT_LE(lines_->logged, 3);
  for (const int made : sockets) ::close(made);
  client.release(sequence);
  const Sequence again = client.ask(0, 100);
  EXPECT_EQ(client.wait(again), Kind::kGranted);
}

}  // namespace
}  // namespace tessera::daemon
