#include "tessera/port/posix_transport.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/socket_address.hpp"
#include "tessera/port/system_call.hpp"
#include "tessera/port/transport_failures.hpp"
#include "tessera/port/yield.hpp"

namespace tessera::port {

namespace {

constexpr size_t kReceiveBytes = size_t{64} << 10;
// How long a listener rests when the process has no descriptor left for a new connection.
constexpr int64_t kAcceptPauseNs = 10'000'000;
constexpr int kBacklog = 128;
// Sockets that are served before the next look.
constexpr size_t kReadyMax = 64;
// What a descriptor is watched as: the numbers of connections are smaller than those of listeners.
constexpr uint64_t kWakeTag = 0;
constexpr uint64_t kListenerTag = uint64_t{1} << 63;

base::Error error_of(int errno_value, const std::string& what) {
  return base::fail_errno(errno_value, what).error;
}

base::Result<Descriptor> open_socket(int family) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return base::fail_errno(errno, "open a socket");
  return socket;
}

// Small requests wait for nothing; a 64-byte round trip would else take up to 40 ms.
void send_at_once(const Descriptor& socket) {
  const int on = 1;
  // Fails on Unix sockets, which never delay.
  static_cast<void>(::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
}

bool is_abandoned(const SocketAddress& address) {
  const auto probe = open_socket(AF_UNIX);
  if (!probe) return false;
  return ::connect(probe->number(), address.raw(), address.size) == -1 && errno == ECONNREFUSED;
}

// Requires that the directory is locked: the probe and the removal must not meet another's bind().
int bind_unix(const Descriptor& socket, const SocketAddress& address, const std::string& path) {
  // The mode of the socket becomes that of the file, so nobody else can connect even at first.
  if (::fchmod(socket.number(), 0600) == -1) return errno;
  if (::bind(socket.number(), address.raw(), address.size) == 0) return 0;
  const int error = errno;
  if (error != EADDRINUSE || !is_abandoned(address)) return error;
  ::unlink(path.c_str());
  return ::bind(socket.number(), address.raw(), address.size) == 0 ? 0 : errno;
}

// A lock on the directory of a Unix socket, held until the descriptor closes. Two processes that
// both found an abandoned socket would else each remove it, the second one the first one's.
base::Result<Descriptor> lock_directory_of(const std::string& path) {
  const std::string directory = directory_of(path);
  Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid() || ::flock(opened.number(), LOCK_EX | LOCK_NB) == -1) {
    return base::fail_errno(errno, "lock the directory " + directory);
  }
  return opened;
}

int bind_tcp(const Descriptor& socket, const SocketAddress& address) {
  const int on = 1;
  if (::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1) return errno;
  return ::bind(socket.number(), address.raw(), address.size) == 0 ? 0 : errno;
}

int set_watch(const Descriptor& watch, int number, uint64_t tag, uint32_t wanted, int how) {
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = tag;
  return ::epoll_ctl(watch.number(), how, number, &event);
}

timespec span_of(int64_t nanoseconds) {
  timespec span{};
  span.tv_sec = nanoseconds / 1'000'000'000;
  span.tv_nsec = nanoseconds % 1'000'000'000;
  return span;
}

// Where the system does not have the finer call, it waits for whole milliseconds.
int wait_for(const Descriptor& watch, std::span<epoll_event> ready, int64_t nanoseconds) {
  const timespec span = span_of(nanoseconds);
  const int max = static_cast<int>(ready.size());
  const int count = ::epoll_pwait2(watch.number(), ready.data(), max, &span, nullptr);
  if (count != -1 || !is_missing_call(errno)) return count;
  constexpr int64_t kNsPerMs = 1'000'000;
  constexpr int64_t kMsMax = 60'000;
  const int64_t milliseconds = std::min(kMsMax, (nanoseconds + kNsPerMs - 1) / kNsPerMs);
  return ::epoll_wait(watch.number(), ready.data(), max, static_cast<int>(milliseconds));
}

}  // namespace

base::Result<std::unique_ptr<PosixTransport>> PosixTransport::create(TransportLimits limits) {
  TESSERA_ASSERT(std::in_range<uint32_t>(limits.frame_bytes_max));
  Descriptor wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake.valid()) return base::fail_errno(errno, "open an event descriptor");
  Descriptor watch(::epoll_create1(EPOLL_CLOEXEC));
  if (!watch.valid() || set_watch(watch, wake.number(), kWakeTag, EPOLLIN, EPOLL_CTL_ADD) == -1) {
    return base::fail_errno(errno, "open an event descriptor");
  }
  return std::unique_ptr<PosixTransport>(
      new PosixTransport(limits, std::move(wake), std::move(watch)));
}

PosixTransport::~PosixTransport() {
  for (const Listener& listener : listeners_) {
    if (!listener.unix_path.empty()) ::unlink(listener.unix_path.c_str());
  }
}

base::Result<std::string> PosixTransport::listen(const std::string& address) {
  TESSERA_TRY(SocketAddress parsed, parse_socket_address(address));
  TESSERA_TRY(Descriptor socket, open_socket(parsed.family()));
  std::string path;
  Descriptor directory_lock;
  if (parsed.family() == AF_UNIX) {
    path = address.substr(address.find(':') + 1);
    TESSERA_TRY(directory_lock, lock_directory_of(path));
  }
  const int error = path.empty() ? bind_tcp(socket, parsed) : bind_unix(socket, parsed, path);
  if (error != 0) return base::fail_errno(error, "listen at " + address);
  if (::listen(socket.number(), kBacklog) == -1) {
    return base::fail_errno(errno, "listen at " + address);
  }
  std::string bound = address;
  if (path.empty()) {
    // The port may have been left to the system to choose.
    parsed.size = sizeof(parsed.storage);
    if (::getsockname(socket.number(), parsed.raw(), &parsed.size) == -1) {
      return base::fail_errno(errno, "listen at " + address);
    }
    bound = socket_address_text(parsed);
  }
  const uint64_t tag = kListenerTag + listeners_.size();
  if (set_watch(watch_, socket.number(), tag, EPOLLIN, EPOLL_CTL_ADD) == -1) {
    return base::fail_errno(errno, "listen at " + address);
  }
  listeners_.push_back({std::move(socket), bound, path, 0});
  return bound;
}

base::Result<ConnectionId> PosixTransport::connect(const std::string& address) {
  TESSERA_TRY(const SocketAddress parsed, parse_socket_address(address));
  if (connections_.size() >= limits_.connections_max) {
    return base::fail(base::Code::kRetry, "too many connections to open one to " + address);
  }
  TESSERA_TRY(Descriptor socket, open_socket(parsed.family()));
  send_at_once(socket);
  const int number = socket.number();
  const ConnectionId id = add(std::move(socket));
  const auto added = connections_.find(id);
  if (::connect(number, parsed.raw(), parsed.size) == 0) {
    events_.push_back({.kind = Event::Kind::kConnected, .connection = id});
  } else if (errno == EINPROGRESS || errno == EINTR) {
    added->second.connecting = true;
  } else {
    end(added, error_of(errno, "connect to " + address));
    return id;
  }
  watch(id, added->second);
  return id;
}

base::Result<void> PosixTransport::send(ConnectionId connection, base::ByteView frame) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return connection_gone();
  if (frame.size() > limits_.frame_bytes_max) {
    return frame_too_long(frame.size(), limits_.frame_bytes_max);
  }
  Connection& open = found->second;
  const size_t waiting = open.unsent.size() - open.unsent_begin;
  if (waiting > 0 && waiting + frame.size() > limits_.unsent_bytes_max) {
    return too_much_unsent(waiting);
  }
  const auto header = frame_header(frame.size());
  const bool direct = waiting == 0 && !open.connecting;
  const size_t sent = direct ? send_now(open, header, frame) : 0;
  if (open.send_failed) return {};
  base::ByteWriter writer(open.unsent);
  writer.bytes(base::ByteView(header).subspan(std::min(sent, header.size())));
  writer.bytes(frame.subspan(sent - std::min(sent, header.size())));
  watch(connection, open);
  return {};
}

void PosixTransport::limit_frames(ConnectionId connection, size_t frame_bytes_max) {
  TESSERA_ASSERT(frame_bytes_max <= limits_.frame_bytes_max);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  found->second.assembler.set_frame_bytes_max(frame_bytes_max);
}

void PosixTransport::close(ConnectionId connection) {
  if (const auto found = connections_.find(connection); found != connections_.end()) erase(found);
  // Events that were read but not yet asked for belong to a connection that the caller gave up.
  std::erase_if(events_, [&](const Event& event) { return event.connection == connection; });
}

std::optional<Event> PosixTransport::next_event(int64_t wait_ns_max) {
  const int64_t begin_ns = clock_.now_ns();
  const int64_t deadline_ns = base::checked_add(begin_ns, std::max<int64_t>(wait_ns_max, 0))
                                  .value_or(std::numeric_limits<int64_t>::max());
  int64_t now_ns = begin_ns;
  bool may_wait = true;
  while (events_.empty() && may_wait) {
    const bool looks = now_ns - begin_ns < look_ns_;
    const bool woken = poll_once(looks ? now_ns : deadline_ns);
    now_ns = clock_.now_ns();
    may_wait = !woken && now_ns < deadline_ns;
    if (looks && may_wait && events_.empty()) yield();
  }
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void PosixTransport::wake() {
  const uint64_t one = 1;
  // Fails only when so many wakes are pending already that one more changes nothing.
  static_cast<void>(!::write(wake_.number(), &one, sizeof(one)));
}

ConnectionId PosixTransport::add(Descriptor socket) {
  const ConnectionId id{next_id_++};
  connections_.try_emplace(id, std::move(socket), limits_.frame_bytes_max);
  return id;
}

void PosixTransport::end(Connections::iterator connection, base::Error reason) {
  events_.push_back(
      {.kind = Event::Kind::kClosed, .connection = connection->first, .reason = std::move(reason)});
  erase(connection);
}

// A child of fork() may still have the socket, so that closing it here would not end the watch.
void PosixTransport::erase(Connections::iterator connection) {
  if (connection->second.watched != 0) {
    set_watch(watch_, connection->second.socket.number(), 0, 0, EPOLL_CTL_DEL);
  }
  connections_.erase(connection);
}

void PosixTransport::watch(ConnectionId id, Connection& connection) {
  uint32_t wanted = connection.connecting ? EPOLLOUT : EPOLLIN;
  if (!connection.unsent.empty()) wanted |= EPOLLOUT;
  if (wanted == connection.watched) return;
  const int how = connection.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  // Fails only for want of kernel memory; then the connection is silent, and its users give it up.
  if (set_watch(watch_, connection.socket.number(), static_cast<uint64_t>(id), wanted, how) == 0) {
    connection.watched = wanted;
  }
}

// Out of descriptors or memory: asking again at once would turn waiting into a spin.
void PosixTransport::pause(size_t index) {
  Listener& listener = listeners_[index];
  listener.paused_until_ns = clock_.now_ns() + kAcceptPauseNs;
  set_watch(watch_, listener.socket.number(), kListenerTag + index, 0, EPOLL_CTL_MOD);
}

std::optional<int64_t> PosixTransport::end_pauses() {
  std::optional<int64_t> next_ns;
  for (size_t i = 0; i < listeners_.size(); ++i) {
    Listener& listener = listeners_[i];
    if (listener.paused_until_ns == 0) continue;
    if (clock_.now_ns() < listener.paused_until_ns) {
      next_ns = std::min(next_ns.value_or(listener.paused_until_ns), listener.paused_until_ns);
      continue;
    }
    listener.paused_until_ns = 0;
    set_watch(watch_, listener.socket.number(), kListenerTag + i, EPOLLIN, EPOLL_CTL_MOD);
  }
  return next_ns;
}

bool PosixTransport::poll_once(int64_t deadline_ns) {
  if (const auto pause_end_ns = end_pauses()) deadline_ns = std::min(deadline_ns, *pause_end_ns);
  std::array<epoll_event, kReadyMax> ready;
  const int count = wait_for(watch_, ready, std::max<int64_t>(0, deadline_ns - clock_.now_ns()));
  bool woken = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<size_t>(i)];
    if (serve(event.data.u64, event.events)) woken = true;
  }
  return woken;
}

bool PosixTransport::serve(uint64_t tag, uint32_t ready) {
  if (tag == kWakeTag) {
    uint64_t wakes = 0;
    static_cast<void>(!::read(wake_.number(), &wakes, sizeof(wakes)));
    return true;
  }
  if (tag >= kListenerTag) {
    accept_all(static_cast<size_t>(tag - kListenerTag));
  } else {
    serve_connection(ConnectionId{tag}, ready);
  }
  return false;
}

void PosixTransport::serve_connection(ConnectionId id, uint32_t ready) {
  const auto connection = connections_.find(id);
  TESSERA_ASSERT(connection != connections_.end());
  if (connection->second.connecting) {
    finish_connect(connection);
    return;
  }
  if ((ready & EPOLLOUT) != 0) flush(id, connection->second);
  if ((ready & ~uint32_t{EPOLLOUT}) != 0) receive(connection);
}

void PosixTransport::finish_connect(Connections::iterator connection) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(connection->second.socket.number(), SOL_SOCKET, SO_ERROR, &error, &size) == -1) {
    error = errno;
  }
  if (error != 0) {
    end(connection, error_of(error, "connect"));
    return;
  }
  connection->second.connecting = false;
  events_.push_back({.kind = Event::Kind::kConnected, .connection = connection->first});
  flush(connection->first, connection->second);
}

void PosixTransport::accept_all(size_t index) {
  const Listener& listener = listeners_[index];
  for (;;) {
    SocketAddress peer;
    peer.size = sizeof(peer.storage);
    Descriptor socket(
        ::accept4(listener.socket.number(), peer.raw(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EAGAIN) pause(index);
      return;
    }
    // Over the limit a peer is turned away by closing, so that it does not wait for nothing.
    if (connections_.size() >= limits_.connections_max) continue;
    send_at_once(socket);
    const ConnectionId id = add(std::move(socket));
    watch(id, connections_.at(id));
    events_.push_back({.kind = Event::Kind::kConnected,
                       .connection = id,
                       .incoming = true,
                       .listener = listener.address,
                       .peer = listener.unix_path.empty() ? socket_address_text(peer) : "local"});
  }
}

void PosixTransport::receive(Connections::iterator connection) {
  std::array<std::byte, kReceiveBytes> piece;
  const ssize_t count = ::recv(connection->second.socket.number(), piece.data(), piece.size(), 0);
  if (count < 0) {
    if (errno != EAGAIN && errno != EINTR) end(connection, error_of(errno, "receive"));
    return;
  }
  if (count == 0) {
    const bool cut = connection->second.assembler.inside_frame();
    end(connection, {cut ? base::Code::kIntegrity : base::Code::kFailed, 0,
                     cut ? "closed by the peer inside a frame" : "closed by the peer"});
    return;
  }
  std::vector<base::Bytes> frames;
  const auto fed = connection->second.assembler.feed(
      base::ByteView(piece).first(static_cast<size_t>(count)), frames);
  for (base::Bytes& frame : frames) {
    events_.push_back(
        {.kind = Event::Kind::kFrame, .connection = connection->first, .frame = std::move(frame)});
  }
  if (!fed) end(connection, fed.error());
}

void PosixTransport::flush(ConnectionId id, Connection& connection) {
  const auto waiting = base::ByteView(connection.unsent).subspan(connection.unsent_begin);
  connection.unsent_begin += send_now(connection, {}, waiting);
  if (connection.send_failed || connection.unsent_begin == connection.unsent.size()) {
    connection.unsent = {};
    connection.unsent_begin = 0;
  } else if (connection.unsent_begin > connection.unsent.size() / 2) {
    // Moving the rest to the front costs less than what was sent, so it is O(1) a byte.
    const auto sent_end =
        connection.unsent.begin() + static_cast<ptrdiff_t>(connection.unsent_begin);
    connection.unsent.erase(connection.unsent.begin(), sent_end);
    connection.unsent_begin = 0;
  }
  watch(id, connection);
}

size_t PosixTransport::send_now(Connection& connection, base::ByteView header,
                                base::ByteView content) {
  size_t sent = 0;
  while (sent < header.size() + content.size() && !connection.send_failed) {
    const auto head = header.subspan(std::min(sent, header.size()));
    const auto rest = content.subspan(sent - std::min(sent, header.size()));
    std::array<iovec, 2> pieces = {{{const_cast<std::byte*>(head.data()), head.size()},
                                    {const_cast<std::byte*>(rest.data()), rest.size()}}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t count = ::sendmsg(connection.socket.number(), &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    // The end is reported once all that the peer had sent before is read.
    if (count < 0) connection.send_failed = true;
    sent += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return sent;
}

}  // namespace tessera::port
