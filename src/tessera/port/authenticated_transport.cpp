#include "tessera/port/authenticated_transport.hpp"

#include <algorithm>
#include <limits>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/port/frame_assembler.hpp"
#include "tessera/port/transport_failures.hpp"

namespace tessera::port {

namespace {

constexpr int64_t kMillisecondNs = 1'000'000;

// All but those that are known to be safe ask for proof.
bool passes_through(const std::string& address) { return address.starts_with("unix:"); }

}  // namespace

TransportLimits AuthenticatedTransport::limits_below(TransportLimits limits) {
  limits.frame_bytes_max += kSealBytes;
  return limits;
}

AuthenticatedTransport::AuthenticatedTransport(std::unique_ptr<Transport> inner,
                                               std::optional<SecretKey> key, const World& world,
                                               const AuthenticationSettings& settings)
    : inner_(std::move(inner)),
      key_(std::move(key)),
      clock_(world.clock),
      random_(world.random),
      settings_(settings) {
  TESSERA_ASSERT(settings_.half_open_max > 0);
  TESSERA_ASSERT(settings_.limits.frame_bytes_max >= kHandshakeBytesMax);
}

base::Result<void> AuthenticatedTransport::check_key(const std::string& address) const {
  if (key_ || passes_through(address)) return {};
  return base::fail(base::Code::kDenied, "peers at " + address +
                                             " have to prove that they know a key, and no key was "
                                             "given here");
}

base::Result<std::string> AuthenticatedTransport::listen(const std::string& address) {
  TESSERA_TRY_VOID(check_key(address));
  return inner_->listen(address);
}

base::Result<ConnectionId> AuthenticatedTransport::connect(const std::string& address) {
  TESSERA_TRY_VOID(check_key(address));
  TESSERA_TRY(const ConnectionId id, inner_->connect(address));
  if (passes_through(address)) {
    inner_->limit_frames(id, settings_.limits.frame_bytes_max);
  } else {
    connections_.emplace(
        id, Connection{.peer = address, .frame_bytes_max = settings_.limits.frame_bytes_max});
  }
  return id;
}

base::Result<void> AuthenticatedTransport::send(ConnectionId connection, base::ByteView frame) {
  if (frame.size() > settings_.limits.frame_bytes_max) {
    return frame_too_long(frame.size(), settings_.limits.frame_bytes_max);
  }
  const auto at = connections_.find(connection);
  if (at == connections_.end()) return inner_->send(connection, frame);
  return at->second.stream ? send_sealed(at, frame) : hold(at->second, frame);
}

// Counted as what it will be below, so that all of it will be taken there.
base::Result<void> AuthenticatedTransport::hold(Connection& connection, base::ByteView frame) {
  const size_t bytes = kFrameHeaderBytes + frame.size() + kSealBytes;
  if (!connection.held.empty() &&
      connection.held_bytes + bytes > settings_.limits.unsent_bytes_max) {
    return too_much_unsent(connection.held_bytes);
  }
  connection.held.push_back(base::copy_of(frame));
  connection.held_bytes += bytes;
  return {};
}

// A frame that was not taken does not count, so the next one has its place.
base::Result<void> AuthenticatedTransport::send_sealed(Connections::iterator at,
                                                       base::ByteView frame) {
  SealedStream& stream = *at->second.stream;
  TESSERA_TRY_VOID(inner_->send(at->first, stream.seal(frame)));
  stream.sent();
  return {};
}

void AuthenticatedTransport::limit_frames(ConnectionId connection, size_t frame_bytes_max) {
  TESSERA_ASSERT(frame_bytes_max <= settings_.limits.frame_bytes_max);
  const auto at = connections_.find(connection);
  if (at == connections_.end()) {
    inner_->limit_frames(connection, frame_bytes_max);
    return;
  }
  at->second.frame_bytes_max = frame_bytes_max;
  if (at->second.stream) inner_->limit_frames(connection, frame_bytes_max + kSealBytes);
}

void AuthenticatedTransport::close(ConnectionId connection) {
  const auto at = connections_.find(connection);
  if (at != connections_.end()) forget(at);
  inner_->close(connection);
  std::erase_if(events_, [&](const Event& event) { return event.connection == connection; });
}

std::optional<Event> AuthenticatedTransport::next_event(int64_t wait_ns_max) {
  const int64_t deadline_ns = base::checked_add(clock_.now_ns(), std::max<int64_t>(wait_ns_max, 0))
                                  .value_or(std::numeric_limits<int64_t>::max());
  bool may_wait = true;
  while (events_.empty() && may_wait) {
    const int64_t until_ns =
        proving_.empty() ? deadline_ns : std::min(deadline_ns, proving_.begin()->first);
    auto event = inner_->next_event(std::max<int64_t>(0, until_ns - clock_.now_ns()));
    const int64_t now_ns = clock_.now_ns();
    // Nothing before the time means that somebody woke the transport below.
    may_wait = event || (until_ns <= now_ns && now_ns < deadline_ns);
    if (event) take(std::move(*event));
    expire();
  }
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void AuthenticatedTransport::take(Event event) {
  if (event.kind == Event::Kind::kConnected) {
    take_connected(std::move(event));
    return;
  }
  const auto at = connections_.find(event.connection);
  if (at == connections_.end()) {
    events_.push_back(std::move(event));
  } else if (event.kind == Event::Kind::kFrame) {
    take_frame(at, std::move(event));
  } else {
    take_closed(at, std::move(event));
  }
}

void AuthenticatedTransport::take_connected(Event event) {
  const ConnectionId id = event.connection;
  if (event.incoming && !passes_through(event.listener)) {
    make_room();
    inner_->limit_frames(id, kHandshakeBytesMax);
    const auto added =
        connections_.emplace(id, Connection{.peer = event.peer,
                                            .listener = event.listener,
                                            .incoming = true,
                                            .frame_bytes_max = settings_.limits.frame_bytes_max});
    ++half_open_;
    start(added.first);
    return;
  }
  const auto at = connections_.find(id);
  if (at != connections_.end()) {
    start(at);
    return;
  }
  inner_->limit_frames(id, settings_.limits.frame_bytes_max);
  events_.push_back(std::move(event));
}

// (A3): a handshake takes a round trip, so whoever has been at it for longest is least likely to
// be about to finish.
void AuthenticatedTransport::make_room() {
  if (half_open_ < settings_.half_open_max) return;
  for (const auto& [due_ns, id] : proving_) {
    const auto at = connections_.find(id);
    if (!at->second.incoming) continue;
    end(at, base::Code::kDenied,
        "was the oldest of " + std::to_string(half_open_) +
            " that have not proven that they know the key, and had to give way");
    return;
  }
}

void AuthenticatedTransport::start(Connections::iterator at) {
  Connection& connection = at->second;
  const auto role = connection.incoming ? Handshake::Role::kServer : Handshake::Role::kClient;
  connection.due_ns = clock_.now_ns() + settings_.handshake_ns_max;
  connection.handshake.emplace(role, *key_, random_);
  proving_.emplace(connection.due_ns, at->first);
  const base::Bytes first = connection.handshake->begin();
  // One that is gone already says so in its own event.
  if (!first.empty()) static_cast<void>(inner_->send(at->first, first));
}

void AuthenticatedTransport::take_frame(Connections::iterator at, Event event) {
  if (at->second.handshake) {
    prove(at, event.frame);
    return;
  }
  if (!at->second.stream) {
    // Only a network that loses what it was given does this.
    end(at, base::Code::kIntegrity, "sent a frame before it was connected");
    return;
  }
  const auto opened = at->second.stream->open(event.frame);
  if (!opened) {
    end(at, opened.error().code, opened.error().context);
    return;
  }
  events_.push_back(std::move(event));
}

void AuthenticatedTransport::prove(Connections::iterator at, base::ByteView frame) {
  Handshake& handshake = *at->second.handshake;
  const auto step = handshake.receive(frame);
  const base::Bytes& reply = step ? step->reply : handshake.refusal();
  if (!reply.empty()) static_cast<void>(inner_->send(at->first, reply));
  if (!step) {
    end(at, step.error().code, step.error().context);
  } else if (step->open) {
    become_open(at);
  }
}

void AuthenticatedTransport::become_open(Connections::iterator at) {
  Connection& connection = at->second;
  connection.stream = connection.handshake->stream();
  proving_.erase({connection.due_ns, at->first});
  if (connection.incoming) --half_open_;
  connection.handshake.reset();
  inner_->limit_frames(at->first, connection.frame_bytes_max + kSealBytes);
  events_.push_back({.kind = Event::Kind::kConnected,
                     .connection = at->first,
                     .incoming = connection.incoming,
                     .listener = connection.listener,
                     .peer = connection.incoming ? connection.peer : std::string()});
  for (const base::Bytes& frame : std::exchange(connection.held, {})) {
    const auto sent = send_sealed(at, frame);
    // Gone: its own event says so. hold() leaves no other reason.
    if (!sent) return;
  }
}

void AuthenticatedTransport::take_closed(Connections::iterator at, Event event) {
  const Connection& connection = at->second;
  if (connection.handshake) {
    const bool malformed = event.reason.code == base::Code::kIntegrity;
    if (malformed) event.reason.code = base::Code::kDenied;
    event.reason.context =
        connection.peer +
        " is gone without having proven that it knows the key: " + event.reason.context;
  }
  forget(at);
  events_.push_back(std::move(event));
}

void AuthenticatedTransport::end(Connections::iterator at, base::Code code,
                                 const std::string& why) {
  const ConnectionId id = at->first;
  events_.push_back({.kind = Event::Kind::kClosed,
                     .connection = id,
                     .reason = {code, 0, at->second.peer + " " + why}});
  forget(at);
  inner_->close(id);
}

void AuthenticatedTransport::forget(Connections::iterator at) {
  const Connection& connection = at->second;
  if (connection.handshake) {
    proving_.erase({connection.due_ns, at->first});
    if (connection.incoming) --half_open_;
  }
  connections_.erase(at);
}

void AuthenticatedTransport::expire() {
  const int64_t now_ns = clock_.now_ns();
  while (!proving_.empty() && proving_.begin()->first <= now_ns) {
    end(connections_.find(proving_.begin()->second), base::Code::kDenied,
        "did not prove within " + std::to_string(settings_.handshake_ns_max / kMillisecondNs) +
            " ms that it knows the key");
  }
}

}  // namespace tessera::port
