#include "tessera/daemon/lock_daemon.hpp"

#include <algorithm>
#include <utility>

namespace tessera::daemon {

namespace {

constexpr int64_t kLogEveryNs = 1'000'000'000;
// More frames than fit into the buffers of a few hundred sockets.
constexpr int kBatchMax = 1 << 16;

}  // namespace

LockDaemon::LockDaemon(const lock::LockServerSettings& settings, const World& world, Log log)
    : transport_(world.transport),
      clock_(world.clock),
      log_(std::move(log)),
      server_(settings, world.random, nullptr,
              [this](lock::LockServer::Peer peer, const base::Bytes& frame) {
                const port::ConnectionId connection{peer};
                const auto sent = transport_.send(connection, frame);
                // One that does not read what it asked for comes back when it does.
                if (!sent && sent.error().code == base::Code::kRetry) {
                  transport_.close(connection);
                }
              }) {
  server_.start(clock_.now_ns());
}

void LockDaemon::cut_off(port::ConnectionId peer, const base::Error& why) {
  server_.disconnect(static_cast<lock::LockServer::Peer>(peer));
  transport_.close(peer);
  log_cut_off(why);
}

void LockDaemon::log_cut_off(const base::Error& why) {
  const int64_t now_ns = clock_.now_ns();
  if (now_ns < quiet_until_ns_) return;
  quiet_until_ns_ = now_ns + kLogEveryNs;
  log_("a client was cut off: " + why.message());
}

void LockDaemon::take(const port::Event& event) {
  const auto peer = static_cast<lock::LockServer::Peer>(event.connection);
  switch (event.kind) {
    case port::Event::Kind::kConnected:
      break;
    case port::Event::Kind::kFrame: {
      const auto taken = server_.receive(peer, event.frame, clock_.now_ns());
      if (!taken) cut_off(event.connection, taken.error());
      break;
    }
    case port::Event::Kind::kClosed:
      server_.disconnect(peer);
      // What ends inside a frame, or announces one that is too long.
      if (event.reason.code == base::Code::kIntegrity) log_cut_off(event.reason);
      break;
  }
}

int64_t LockDaemon::wait_ns(int64_t end_ns) const {
  const int64_t due_ns = std::min(end_ns, server_.next_due_ns().value_or(end_ns));
  return std::max<int64_t>(0, due_ns - clock_.now_ns());
}

// (D1): what had arrived when a batch began is seen before time passes for the server; but whoever
// sends without end does not stop it either.
void LockDaemon::serve(int64_t for_ns) {
  const int64_t end_ns = clock_.now_ns() + for_ns;
  while (!stopped_ && clock_.now_ns() < end_ns) {
    auto event = transport_.next_event(wait_ns(end_ns));
    const int64_t begin_ns = clock_.now_ns();
    for (int taken = 0; event && taken < kBatchMax; ++taken) {
      take(*event);
      event = transport_.next_event(0);
    }
    if (event) take(*event);
    server_.advance(begin_ns);
  }
}

}  // namespace tessera::daemon
