#include "tessera/port/posix_transport.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "tessera/port/socket_address.hpp"
#include "tessera/port/test_processes.hpp"
#include "tessera/port/test_refused_calls.hpp"
#include "tessera/port/test_sanitizers.hpp"

namespace tessera::port {
namespace {

using base::bytes_of;
using base::text_of;

constexpr int64_t kSecondNs = 1'000'000'000;

std::string socket_path() {
  return ::testing::TempDir() + "tessera_posix_" + std::to_string(::getpid()) + ".sock";
}

// A peer that sends what it likes, as an attacker may.
Descriptor raw_peer(const std::string& address) {
  const SocketAddress parsed = parse_socket_address(address).value();
  Descriptor socket(::socket(parsed.family(), SOCK_STREAM, 0));
  EXPECT_EQ(::connect(socket.number(), parsed.raw(), parsed.size), 0);
  return socket;
}

void send_raw(const Descriptor& socket, base::ByteView bytes) {
  EXPECT_EQ(::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

TEST(PosixTransport, FramesCutAnywhereAreReassembled) {
  const auto server = PosixTransport::create().value();
  const std::string address = server->listen("tcp:127.0.0.1:0").value();
  const Descriptor peer = raw_peer(address);
  ASSERT_EQ(server->next_event(kSecondNs)->kind, Event::Kind::kConnected);
  base::Bytes stream;
  base::ByteWriter(stream).u32(3);
  base::ByteWriter(stream).bytes(bytes_of("abc"));
  for (const std::byte& byte : stream) {
    ASSERT_FALSE(server->next_event(0));
    send_raw(peer, {&byte, 1});
  }
  EXPECT_EQ(text_of(server->next_event(kSecondNs)->frame), "abc");
}

TEST(PosixTransport, T3APeerThatAnnouncesTooMuchIsCutOff) {
  const auto server = PosixTransport::create({.frame_bytes_max = 100}).value();
  const std::string address = server->listen("tcp:127.0.0.1:0").value();
  const Descriptor peer = raw_peer(address);
  ASSERT_EQ(server->next_event(kSecondNs)->kind, Event::Kind::kConnected);
  base::Bytes stream;
  base::ByteWriter(stream).u32(101);
  send_raw(peer, stream);
  const auto closed = server->next_event(kSecondNs);
  ASSERT_EQ(closed->kind, Event::Kind::kClosed);
  EXPECT_EQ(closed->reason.code, base::Code::kIntegrity);
  std::byte byte{};
  EXPECT_LE(::recv(peer.number(), &byte, 1, 0), 0);
}

TEST(PosixTransport, AnEndInsideAFrameIsReportedAsSuch) {
  const auto server = PosixTransport::create().value();
  const std::string address = server->listen("tcp:127.0.0.1:0").value();
  {
    const Descriptor peer = raw_peer(address);
    send_raw(peer, bytes_of("ab"));
  }
  ASSERT_EQ(server->next_event(kSecondNs)->kind, Event::Kind::kConnected);
  const auto closed = server->next_event(kSecondNs);
  ASSERT_EQ(closed->kind, Event::Kind::kClosed);
  EXPECT_EQ(closed->reason.context, "closed by the peer inside a frame");
}

TEST(PosixTransport, T4APeerThatReadsNothingCostsBoundedMemory) {
  const auto server = PosixTransport::create({.unsent_bytes_max = 1 << 20}).value();
  const std::string address = server->listen("tcp:127.0.0.1:0").value();
  const Descriptor peer = raw_peer(address);
  const ConnectionId id = server->next_event(kSecondNs)->connection;
  const base::Bytes frame(1 << 18);
  base::Result<void> sent;
  for (int i = 0; i < 1000 && sent; ++i) sent = server->send(id, frame);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, base::Code::kRetry);
}

TEST(PosixTransport, AnAbandonedUnixSocketIsReplacedALiveOneIsNot) {
  const std::string address = "unix:" + socket_path();
  const SocketAddress parsed = parse_socket_address(address).value();
  {
    const Descriptor dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(dead.number(), parsed.raw(), parsed.size), 0);
  }
  const auto server = PosixTransport::create().value();
  ASSERT_TRUE(server->listen(address));
  const auto second = PosixTransport::create().value();
  EXPECT_EQ(second->listen(address).error().errno_value, EADDRINUSE);
  const ConnectionId id = second->connect(address).value();
  EXPECT_EQ(second->next_event(kSecondNs)->connection, id);
}

TEST(PosixTransport, AUnixSocketIsItsUsersAloneAndGoesWithItsOwner) {
  const std::string path = socket_path();
  struct stat status {};
  {
    const auto server = PosixTransport::create().value();
    ASSERT_TRUE(server->listen("unix:" + path));
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
  }
  EXPECT_EQ(::stat(path.c_str(), &status), -1);
}

TEST(PosixTransport, ListeningWhereThereIsNoDirectoryNamesTheCause) {
  const auto server = PosixTransport::create().value();
  EXPECT_EQ(server->listen("unix:/nonexistent/x.sock").error().code, base::Code::kNotFound);
}

TEST(PosixTransport, WakeEndsAWaitFromAnotherThread) {
  const auto transport = PosixTransport::create().value();
  transport->wake();
  EXPECT_FALSE(transport->next_event(1000 * kSecondNs));
  std::thread waker([&] { transport->wake(); });
  EXPECT_FALSE(transport->next_event(1000 * kSecondNs));
  waker.join();
}

TEST(PosixTransport, TwoThreadsExchangeMoreThanTheSocketsHold) {
  const auto server = PosixTransport::create().value();
  const std::string address = server->listen("unix:" + socket_path()).value();
  constexpr int kFrames = 64;
  std::thread echo([&] {
    for (int frames = 0; frames < kFrames;) {
      const auto event = server->next_event(10 * kSecondNs);
      ASSERT_TRUE(event);
      if (event->kind != Event::Kind::kFrame) continue;
      ASSERT_TRUE(server->send(event->connection, event->frame));
      ++frames;
    }
    // The rest leaves while waiting for the client's end.
    while (server->next_event(10 * kSecondNs)->kind != Event::Kind::kClosed) {
    }
  });
  const auto client = PosixTransport::create().value();
  const ConnectionId id = client->connect(address).value();
  for (int i = 0; i < kFrames; ++i) {
    ASSERT_TRUE(client->send(id, base::Bytes(200'000, static_cast<std::byte>(i))));
  }
  ASSERT_EQ(client->next_event(10 * kSecondNs)->kind, Event::Kind::kConnected);
  for (int i = 0; i < kFrames; ++i) {
    const auto event = client->next_event(10 * kSecondNs);
    ASSERT_TRUE(event);
    ASSERT_EQ(event->frame, base::Bytes(200'000, static_cast<std::byte>(i)));
  }
  client->close(id);
  echo.join();
}

TEST(PosixTransport, WhoLooksBeforeItSleepsWaitsNoLongerAndIsWokenToo) {
  const auto transport = PosixTransport::create().value();
  transport->look_before_sleep(2'000'000);
  const PosixClock clock;
  const int64_t begin = clock.now_ns();
  EXPECT_FALSE(transport->next_event(1'000'000));  // ends while it looks
  EXPECT_FALSE(transport->next_event(4'000'000));  // and while it sleeps
  EXPECT_GE(clock.now_ns() - begin, 5'000'000);
  std::thread waker([&] { transport->wake(); });
  EXPECT_FALSE(transport->next_event(60'000'000'000));
  waker.join();
  EXPECT_LT(clock.now_ns() - begin, 50'000'000'000);
}

TEST(SocketAddress, TextsParseAndReturn) {
  for (const char* text : {"unix:/tmp/a.sock", "tcp:127.0.0.1:7000", "tcp:[::1]:80"}) {
    const auto address = parse_socket_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(socket_address_text(*address), text);
  }
  const std::string long_path(200, 'a');
  for (const std::string& text :
       {std::string(""), std::string("udp:1"), std::string("tcp:host"), std::string("tcp::5"),
        std::string("tcp:127.0.0.1:65536"), std::string("tcp:127.0.0.1:x"),
        std::string("tcp:127.0.0.1:"), std::string("unix:"), "unix:/" + long_path}) {
    const auto address = parse_socket_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, base::Code::kInvalid) << text;
  }
}

TEST(PosixTransport, WaitsWhereTheFinerCallIsRefused) {
  if (kSanitized) GTEST_SKIP() << "runs in builds without sanitizers";
  for (const int answer : {EPERM, ENOSYS}) {
    run_processes(1, [&](int) {
      ::alarm(60);
      ASSERT_TRUE(refuse({SYS_epoll_pwait2, answer}));
      const auto server = PosixTransport::create().value();
      const std::string address = server->listen("tcp:127.0.0.1:0").value();
      const Descriptor peer = raw_peer(address);
      const auto event = server->next_event(30 * kSecondNs);
      ASSERT_TRUE(event);
      EXPECT_EQ(event->kind, Event::Kind::kConnected);
      EXPECT_FALSE(server->next_event(kSecondNs / 100));
    });
  }
}

}  // namespace
}  // namespace tessera::port
