#include "tessera/daemon/frame_daemon.hpp"

#include <algorithm>
#include <utility>

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

void FrameDaemon::send(port::ConnectionId connection, const base::Bytes& frame) {
  const auto sent = transport_.send(connection, frame);
  if (!sent && sent.error().code == base::Code::kRetry) transport_.close(connection);
}

void FrameDaemon::cut_off(port::ConnectionId peer, const base::Error& why) {
  forget(peer);
  transport_.close(peer);
  log_cut_off(why);
}

void FrameDaemon::log_cut_off(const base::Error& why) {
  const int64_t at_ns = clock_.now_ns();
  if (at_ns < quiet_until_ns_) return;
  quiet_until_ns_ = at_ns + kLogEveryNs;
  log_("a client was cut off: " + why.message());
}

void FrameDaemon::take(const port::Event& event) {
  if (take_own(event)) return;
  switch (event.kind) {
    case port::Event::Kind::kConnected:
      break;
    case port::Event::Kind::kFrame: {
      const auto taken = take_frame(event);
      if (!taken) cut_off(event.connection, taken.error());
      break;
    }
    case port::Event::Kind::kClosed:
      forget(event.connection);
      if (is_misbehaviour(event.reason)) log_cut_off(event.reason);
      break;
  }
}

int64_t FrameDaemon::wait_ns(int64_t end_ns) const {
  const int64_t due_ns = std::min(end_ns, next_due_ns().value_or(end_ns));
  return std::max<int64_t>(0, due_ns - clock_.now_ns());
}

// (D1): what had arrived when a batch began is seen before time passes for the service; but whoever
// sends without end does not stop it either.
void FrameDaemon::serve(int64_t for_ns) {
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
  }
}

}  // namespace tessera::daemon
