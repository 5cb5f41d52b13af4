#include "tessera/daemon/page_server.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "tessera/daemon/http_request.hpp"
#include "tessera/port/socket_address.hpp"

namespace tessera::daemon {

namespace {

constexpr int kBacklog = 64;
// How long it rests when the process has no descriptor left for a new connection.
constexpr int64_t kAcceptPauseNs = 50'000'000;
constexpr int64_t kForeverNs = 3'600'000'000'000;

base::Result<port::Descriptor> listen_at(const std::string& address,
                                         const port::SocketAddress& parsed) {
  port::Descriptor socket(::socket(parsed.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  const bool listens =
      socket.valid() &&
      ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      ::bind(socket.number(), parsed.raw(), parsed.size) == 0 &&
      ::listen(socket.number(), kBacklog) == 0;
  if (!listens) return base::fail_errno(errno, "show a page at " + address);
  return socket;
}

// The port may have been left to the system to choose.
base::Result<std::string> host_and_port(const port::Descriptor& socket) {
  port::SocketAddress bound;
  bound.size = sizeof(bound.storage);
  if (::getsockname(socket.number(), bound.raw(), &bound.size) == -1) {
    return base::fail_errno(errno, "find the address of a socket");
  }
  const std::string text = port::socket_address_text(bound);
  return text.substr(text.find(':') + 1);
}

// Signals are for the threads that know what to do with them.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

timespec span_of(int64_t ns) {
  timespec span{};
  span.tv_sec = ns / 1'000'000'000;
  span.tv_nsec = ns % 1'000'000'000;
  return span;
}

}  // namespace

base::Result<std::unique_ptr<PageServer>> PageServer::start(const std::string& address,
                                                            std::string path, Page page) {
  if (!address.starts_with("tcp:")) {
    return base::fail(base::Code::kInvalid, "address \"" + address + "\": write tcp:host:port");
  }
  TESSERA_TRY(const port::SocketAddress parsed, port::parse_socket_address(address));
  TESSERA_TRY(port::Descriptor listener, listen_at(address, parsed));
  TESSERA_TRY(const std::string where, host_and_port(listener));
  port::Descriptor wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake.valid()) return base::fail_errno(errno, "open an event descriptor");
  std::unique_ptr<PageServer> made(
      new PageServer(std::move(listener), std::move(wake), std::move(path), std::move(page)));
  made->url_ = "http://" + where + made->path_;
  made->thread_ = std::thread([server = made.get()] {
    block_signals();
    server->run();
  });
  return made;
}

PageServer::~PageServer() {
  stopped_ = true;
  const uint64_t one = 1;
  static_cast<void>(!::write(wake_.number(), &one, sizeof(one)));
  thread_.join();
}

// The wake, the listener, and then the connections in their order.
std::vector<pollfd> PageServer::poll_set(int64_t now_ns) const {
  const bool accepts = connections_.size() < kConnectionsMax && now_ns >= accept_from_ns_;
  std::vector<pollfd> set = {{wake_.number(), POLLIN, 0},
                             {accepts ? listener_.number() : -1, POLLIN, 0}};
  for (const Connection& connection : connections_) {
    const short wanted = connection.answered ? POLLOUT : POLLIN;
    set.push_back({connection.socket.number(), wanted, 0});
  }
  return set;
}

int64_t PageServer::wait_ns(int64_t now_ns) const {
  int64_t until_ns = now_ns + kForeverNs;
  if (accept_from_ns_ > now_ns) until_ns = accept_from_ns_;
  for (const Connection& connection : connections_)
    until_ns = std::min(until_ns, connection.end_ns);
  return std::max<int64_t>(0, until_ns - now_ns);
}

void PageServer::run() {
  while (!stopped_) {
    const int64_t now_ns = clock_.now_ns();
    std::vector<pollfd> set = poll_set(now_ns);
    const timespec span = span_of(wait_ns(now_ns));
    static_cast<void>(::ppoll(set.data(), set.size(), &span, nullptr));
    size_t at = 2;
    for (Connection& connection : connections_) {
      if (set[at++].revents == 0) continue;
      if (!connection.answered) receive(connection);
      if (connection.answered && !connection.over) send(connection);
    }
    const int64_t later_ns = clock_.now_ns();
    connections_.remove_if([&](const Connection& connection) {
      return connection.over || connection.end_ns <= later_ns;
    });
    if (set[1].revents != 0) accept_all(later_ns);
  }
}

void PageServer::accept_all(int64_t now_ns) {
  while (connections_.size() < kConnectionsMax) {
    port::Descriptor socket(
        ::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.valid()) {
      connections_.push_back({.socket = std::move(socket), .end_ns = now_ns + kLifeNs});
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    // Out of descriptors or memory: asking again at once would turn poll() into a spin.
    if (errno != EAGAIN) accept_from_ns_ = now_ns + kAcceptPauseNs;
    return;
  }
}

void PageServer::receive(Connection& connection) {
  std::array<char, kHttpHeadBytesMax> piece;
  const ssize_t count = ::recv(connection.socket.number(), piece.data(), piece.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    connection.over = true;
    return;
  }
  connection.received.append(piece.data(), static_cast<size_t>(count));
  auto answer = http_answer(connection.received, path_, page_);
  if (!answer) return;
  connection.answer = *std::move(answer);
  connection.answered = true;
}

void PageServer::send(Connection& connection) {
  const ssize_t count =
      ::send(connection.socket.number(), connection.answer.data() + connection.sent,
             connection.answer.size() - connection.sent, MSG_NOSIGNAL);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  connection.sent += static_cast<size_t>(std::max<ssize_t>(count, 0));
  connection.over = count < 0 || connection.sent == connection.answer.size();
}

}  // namespace tessera::daemon
