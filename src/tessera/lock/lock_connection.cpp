#include "tessera/lock/lock_connection.hpp"

#include <algorithm>
#include <utility>

namespace tessera::lock {

namespace {

// Between two attempts to reach a server.
constexpr int64_t kReconnectNs = 10'000'000;
// How often a connection is looked at while nothing happens to it.
constexpr int64_t kLooksPerLease = 8;
// Between two attempts to have one started.
constexpr int64_t kReviveNs = 250'000'000;

}  // namespace

LockConnection::LockConnection(std::string address, std::string name, World world)
    : address_(std::move(address)),
      transport_(world.transport),
      clock_(world.clock),
      starters_(std::move(world.starters)),
      client_(std::move(name),
              [this](const base::Bytes& frame) {
                // What cannot be sent is said again on the next connection.
                if (connection_) static_cast<void>(transport_.send(*connection_, frame));
              }),
      connect_at_ns_(clock_.now_ns()),
      revive_at_ns_(connect_at_ns_),
      reached_ns_(connect_at_ns_),
      used_ns_(connect_at_ns_) {}

LockConnection::~LockConnection() {
  if (connection_) transport_.close(*connection_);
}

Sequence LockConnection::ask(const LockClient::Asked& asked) {
  // What was in the way of earlier requests need not be in the way of this one.
  trouble_.reset();
  used_ns_ = clock_.now_ns();
  return client_.acquire(asked, used_ns_);
}

void LockConnection::release(Sequence sequence) {
  used_ns_ = clock_.now_ns();
  client_.release(sequence, used_ns_);
  events_.erase(sequence);
}

bool LockConnection::holds(Sequence sequence, int64_t for_ns) const {
  return client_.holds(sequence, clock_.now_ns(), for_ns);
}

std::optional<LockClient::Event> LockConnection::take_event(Sequence sequence) {
  for (LockClient::Event& event : client_.take_events()) {
    events_.emplace(event.sequence, std::move(event));
  }
  const auto at = events_.find(sequence);
  if (at == events_.end()) return std::nullopt;
  LockClient::Event event = std::move(at->second);
  events_.erase(at);
  return event;
}

std::optional<LockClient::Event> LockConnection::wait(Sequence sequence, int64_t for_ns) {
  const int64_t end_ns = clock_.now_ns() + for_ns;
  for (;;) {
    if (auto event = take_event(sequence)) return event;
    if (clock_.now_ns() >= end_ns) return std::nullopt;
    step(end_ns);
  }
}

void LockConnection::live(int64_t for_ns) {
  const int64_t end_ns = clock_.now_ns() + for_ns;
  do {
    step(end_ns);
  } while (clock_.now_ns() < end_ns);
}

bool LockConnection::is_due() const {
  if (!client_.needs_session()) return false;
  return !client_.greeted() || client_.next_due_ns().value_or(0) <= clock_.now_ns();
}

void LockConnection::connect() {
  connect_at_ns_ = clock_.now_ns() + kReconnectNs;
  const auto made = transport_.connect(address_);
  if (made) {
    connection_ = *made;
  } else {
    trouble_ = made.error();
  }
}

void LockConnection::revive() {
  if (!starters_.revive || clock_.now_ns() < revive_at_ns_) return;
  starters_.revive();
  revive_at_ns_ = clock_.now_ns() + kReviveNs;
  connect_at_ns_ = clock_.now_ns();
}

// Whether there is one to go to; the request then waits for it as for any server.
bool LockConnection::go_to_proxy() {
  if (!starters_.start_proxy) return false;
  auto address = starters_.start_proxy();
  if (!address) return false;
  address_ = *std::move(address);
  starters_ = {[revive = std::move(starters_.revive), start = std::move(starters_.start_proxy)] {
                 if (revive) revive();
                 static_cast<void>(start());
               },
               {}};
  drop();
  connect_at_ns_ = clock_.now_ns();
  return true;
}

void LockConnection::drop() {
  reached_ns_ = reached_ns();
  if (connection_) transport_.close(*connection_);
  connection_.reset();
  client_.disconnected();
}

void LockConnection::leave() {
  client_.leave();
  // What the peer's system has not taken is lost with the connection, and then the lease ends it.
  static_cast<void>(transport_.next_event(0));
  drop();
}

void LockConnection::leave_if_unused() {
  if (!connection_ || client_.needs_session()) return;
  if (clock_.now_ns() - used_ns_ > client_.lease_ns()) leave();
}

void LockConnection::take(const port::Event& event) {
  if (connection_ != event.connection) return;
  switch (event.kind) {
    case port::Event::Kind::kConnected:
      trouble_.reset();
      client_.connected(clock_.now_ns());
      break;
    case port::Event::Kind::kFrame:
      if (!client_.greeted() && says_full(event.frame) && go_to_proxy()) break;
      if (!client_.receive(event.frame, clock_.now_ns())) drop();
      break;
    case port::Event::Kind::kClosed: {
      const bool unreached = !client_.greeted();
      trouble_ = event.reason;
      drop();
      if (unreached) revive();
      break;
    }
  }
}

bool LockConnection::catch_up() {
  bool any = false;
  while (const auto event = transport_.next_event(0)) {
    take(*event);
    any = true;
  }
  client_.advance(clock_.now_ns());
  return any;
}

void LockConnection::step(int64_t deadline_ns) {
  if (!connection_ && clock_.now_ns() >= connect_at_ns_) connect();
  int64_t until_ns = std::min(deadline_ns, client_.next_due_ns().value_or(deadline_ns));
  // A server that does not answer is noticed by the clock.
  const int64_t look_ns = client_.greeted() ? client_.lease_ns() / kLooksPerLease : kReconnectNs;
  until_ns = std::min(until_ns, clock_.now_ns() + look_ns);
  const int64_t wait_ns = std::max<int64_t>(0, until_ns - clock_.now_ns());
  if (const auto event = transport_.next_event(wait_ns)) take(*event);
  client_.advance(clock_.now_ns());
  if (client_.is_stalled(clock_.now_ns())) drop();
}

}  // namespace tessera::lock
