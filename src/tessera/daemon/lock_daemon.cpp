#include "tessera/daemon/lock_daemon.hpp"

#include <algorithm>
#include <utility>

#include "tessera/daemon/metrics_page.hpp"

namespace tessera::daemon {

namespace {

constexpr int64_t kLogEveryNs = 1'000'000'000;
// More frames than fit into the buffers of a few hundred sockets.
constexpr int kBatchMax = 1 << 16;

// What ends inside a frame, announces one that is too long, or cannot prove that it knows the key.
bool is_misbehaviour(const base::Error& reason) {
  return reason.code == base::Code::kIntegrity || reason.code == base::Code::kDenied;
}

}  // namespace

LockDaemon::LockDaemon(const lock::LockServerSettings& settings, const World& world, Log log)
    : transport_(world.transport),
      clock_(world.clock),
      log_(std::move(log)),
      server_(settings, world.random, nullptr,
              [this](lock::LockServer::Peer peer, base::Bytes frame) {
                if (peer == FileGuard::kPeer) {
                  guard_->deliver(std::move(frame));
                } else {
                  send(port::ConnectionId{peer}, frame);
                }
              }),
      start_ns_(clock_.now_ns()),
      admin_(server_, start_ns_, log_) {
  server_.start(start_ns_);
}

void LockDaemon::guard(std::unique_ptr<port::PlainFile> file, std::string name) {
  guard_.emplace(server_, std::move(file), std::move(name));
  guard_->start(clock_.now_ns());
}

size_t LockDaemon::clients() const {
  const size_t guards = guard_ && server_.has_session(FileGuard::kPeer) ? 1 : 0;
  return server_.sessions() - guards;
}

void LockDaemon::send(port::ConnectionId connection, const base::Bytes& frame) {
  const auto sent = transport_.send(connection, frame);
  if (!sent && sent.error().code == base::Code::kRetry) transport_.close(connection);
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

base::Result<void> LockDaemon::take_frame(const port::Event& event) {
  const int64_t now_ns = clock_.now_ns();
  if (!lock::is_admin_frame(event.frame)) {
    return server_.receive(static_cast<lock::LockServer::Peer>(event.connection), event.frame,
                           now_ns);
  }
  TESSERA_TRY(const base::Bytes answer, admin_.answer(event.frame, now_ns));
  send(event.connection, answer);
  return {};
}

void LockDaemon::take(const port::Event& event) {
  switch (event.kind) {
    case port::Event::Kind::kConnected:
      break;
    case port::Event::Kind::kFrame: {
      const auto taken = take_frame(event);
      if (!taken) cut_off(event.connection, taken.error());
      break;
    }
    case port::Event::Kind::kClosed:
      server_.disconnect(static_cast<lock::LockServer::Peer>(event.connection));
      if (is_misbehaviour(event.reason)) log_cut_off(event.reason);
      break;
  }
}

int64_t LockDaemon::wait_ns(int64_t end_ns) const {
  int64_t due_ns = std::min(end_ns, server_.next_due_ns().value_or(end_ns));
  if (guard_) due_ns = std::min(due_ns, guard_->next_due_ns().value_or(end_ns));
  return std::max<int64_t>(0, due_ns - clock_.now_ns());
}

void LockDaemon::advance(int64_t now_ns) {
  server_.advance(now_ns);
  if (guard_) guard_->advance(now_ns);
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
    advance(begin_ns);
    inquiry_.answer([&] { return metrics_page(server_, clock_.now_ns() - start_ns_); });
  }
}

}  // namespace tessera::daemon
