#include "tessera/daemon/proxy_daemon.hpp"

#include <algorithm>
#include <utility>

#include "tessera/lock/admin_messages.hpp"

namespace tessera::daemon {

namespace {

// Between two attempts to reach the server.
constexpr int64_t kReconnectNs = 50'000'000;
// How often the connection is looked at while nothing happens to it.
constexpr int64_t kLookNs = 100'000'000;

}  // namespace

ProxyDaemon::ProxyDaemon(std::string upstream, std::string name, const World& world, Log log)
    : FrameDaemon(world, std::move(log)),
      upstream_(std::move(upstream)),
      proxy_(std::move(name), {}, world.random, nullptr, links()),
      connect_at_ns_(now_ns()) {}

ProxyDaemon::~ProxyDaemon() {
  if (connection_) transport().close(*connection_);
}

lock::LockProxy::Links ProxyDaemon::links() {
  return {[this](lock::LockProxy::Peer peer, const base::Bytes& frame) {
            send(port::ConnectionId{peer}, frame);
          },
          [this](lock::LockProxy::Peer peer) { transport().close(port::ConnectionId{peer}); },
          [this](const base::Bytes& frame) {
            // What cannot be sent is said again on the next connection.
            if (connection_) static_cast<void>(transport().send(*connection_, frame));
          }};
}

base::Result<void> ProxyDaemon::take_frame(const port::Event& event) {
  if (lock::is_admin_frame(event.frame)) {
    return base::fail(base::Code::kDenied, "a proxy shows no locks; its server does");
  }
  return proxy_.receive(static_cast<lock::LockProxy::Peer>(event.connection), event.frame,
                        now_ns());
}

void ProxyDaemon::forget(port::ConnectionId peer) {
  proxy_.disconnect(static_cast<lock::LockProxy::Peer>(peer));
}

bool ProxyDaemon::take_own(const port::Event& event) {
  if (connection_ != event.connection) return false;
  switch (event.kind) {
    case port::Event::Kind::kConnected:
      proxy_.connected_up(now_ns());
      break;
    case port::Event::Kind::kFrame: {
      const auto taken = proxy_.receive_up(event.frame, now_ns());
      if (!taken) drop(taken.error());
      if (taken && !std::exchange(reached_, true)) log()("the lock server was reached");
      break;
    }
    case port::Event::Kind::kClosed:
      drop(event.reason);
      break;
  }
  return true;
}

void ProxyDaemon::drop(const base::Error& why) {
  if (connection_) transport().close(*connection_);
  connection_.reset();
  proxy_.disconnected_up();
  if (std::exchange(reached_, false)) log()("the lock server is gone: " + why.message());
}

void ProxyDaemon::connect(int64_t now_ns) {
  connect_at_ns_ = now_ns + kReconnectNs;
  const auto made = transport().connect(upstream_);
  if (made) connection_ = *made;
}

void ProxyDaemon::advance(int64_t now_ns) {
  proxy_.advance(now_ns);
  if (proxy_.is_stalled_up(now_ns)) {
    drop({base::Code::kRetry, 0, "it does not answer, or has ended the session"});
  }
  if (!connection_ && now_ns >= connect_at_ns_) connect(now_ns);
}

std::optional<int64_t> ProxyDaemon::next_due_ns() const {
  const int64_t look_ns = connection_ ? now_ns() + kLookNs : connect_at_ns_;
  return std::min(proxy_.next_due_ns().value_or(look_ns), look_ns);
}

}  // namespace tessera::daemon
