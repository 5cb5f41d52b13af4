// The page of metrics over real sockets, among clients that misbehave.
#include "tessera/daemon/page_server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>

#include "tessera/port/socket_address.hpp"

namespace tessera::daemon {
namespace {

class PageServerTest : public ::testing::Test {
 protected:
  // A blocking socket to the server that gives up after a while.
  [[nodiscard]] port::Descriptor connect() const {
    const std::string& url = server_->url();
    const size_t begin = url.find("//") + 2;
    const auto where =
        port::parse_socket_address("tcp:" + url.substr(begin, url.rfind('/') - begin)).value();
    port::Descriptor made(::socket(where.family(), SOCK_STREAM, 0));
    const timeval patience = {30, 0};
    EXPECT_EQ(::setsockopt(made.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    EXPECT_EQ(::connect(made.number(), where.raw(), where.size), 0);
    return made;
  }

  static void say(const port::Descriptor& to, const std::string& text) {
    EXPECT_EQ(::send(to.number(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  // All that comes until the server closes.
  static std::string hear(const port::Descriptor& from) {
    std::string all;
    std::array<char, 4096> piece;
    for (;;) {
      const ssize_t count = ::recv(from.number(), piece.data(), piece.size(), 0);
      if (count <= 0) return all;
      all.append(piece.data(), static_cast<size_t>(count));
    }
  }

  [[nodiscard]] std::string read_page() const {
    const port::Descriptor reader = connect();
    say(reader, "GET /metrics HTTP/1.1\r\n\r\n");
    return hear(reader);
  }

  std::atomic<int> made_ = 0;
  // Longer than the buffers of a socket.
  const std::string large_ = std::string(size_t{8} << 20, 'x') + "\n";
  std::unique_ptr<PageServer> server_ = PageServer::start("tcp:127.0.0.1:0", "/metrics", [this] {
                                          ++made_;
                                          return std::optional(large_);
                                        }).value();
};

TEST_F(PageServerTest, ALongPageArrivesWhole) {
  EXPECT_TRUE(read_page().ends_with("\r\n\r\n" + large_));
  EXPECT_EQ(made_, 1);
}

TEST_F(PageServerTest, ARequestInPiecesIsOne) {
  const port::Descriptor reader = connect();
  for (const char letter : std::string("GET /metrics HTTP/1.1\r\n\r\n")) say(reader, {letter});
  EXPECT_TRUE(hear(reader).starts_with("HTTP/1.1 200"));
}

// (H1), (H2): those who send half a request, or do not read, are gone after a while.
TEST_F(PageServerTest, WhoKeepsConnectionsKeepsNobodyOutForLong) {
  std::vector<port::Descriptor> idle;
  for (size_t i = 0; i < 2 * PageServer::kConnectionsMax; ++i) {
    idle.push_back(connect());
    say(idle.back(), i % 2 == 0 ? "GET /metr" : "GET /metrics HTTP/1.1\r\n\r\n");
  }
  EXPECT_TRUE(read_page().ends_with(large_));
}

TEST_F(PageServerTest, GarbageIsAnsweredAndForgotten) {
  for (int i = 0; i < 50; ++i) {
    const port::Descriptor stranger = connect();
    say(stranger, std::string("\x16\x03\x01\0garbage", 11));
    EXPECT_TRUE(hear(stranger).starts_with("HTTP/1.1 400"));
    static_cast<void>(connect());
  }
  EXPECT_TRUE(read_page().ends_with(large_));
}

TEST_F(PageServerTest, ATakenOrWrongAddressIsTold) {
  const std::string& url = server_->url();
  const std::string taken =
      "tcp:127.0.0.1" + url.substr(url.rfind(':'), url.rfind('/') - url.rfind(':'));
  const auto page = [] { return std::optional<std::string>(); };
  EXPECT_EQ(PageServer::start(taken, "/", page).error().errno_value, EADDRINUSE);
  EXPECT_EQ(PageServer::start("unix:/tmp/x", "/", page).error().code, base::Code::kInvalid);
}

}  // namespace
}  // namespace tessera::daemon
