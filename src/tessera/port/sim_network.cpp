#include "tessera/port/sim_network.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/fnv.hpp"
#include "tessera/port/transport_failures.hpp"

namespace tessera::port {

namespace {

constexpr uint64_t kMillion = 1'000'000;
std::string describe(const std::string& from, const std::string& to, const base::Bytes& frame) {
  return from + "->" + to + " frame of " + std::to_string(frame.size()) + " bytes, digest " +
         std::to_string(base::fnv(base::kFnvStart, frame));
}

base::Error closed_by_peer() { return {base::Code::kFailed, 0, "closed by the peer"}; }

}  // namespace

SimNetwork::SimNetwork(SimClock& clock, uint64_t seed, TransportLimits limits)
    : clock_(clock), random_(seed), limits_(limits), trace_digest_(base::kFnvStart) {}

SimNetwork::~SimNetwork() { TESSERA_ASSERT(endpoint_count_ == 0); }

std::unique_ptr<SimEndpoint> SimNetwork::endpoint(const std::string& node) {
  ++endpoint_count_;
  return std::unique_ptr<SimEndpoint>(new SimEndpoint(*this, node));
}

void SimNetwork::set_faults(const NetworkFaults& faults) {
  TESSERA_ASSERT(0 <= faults.delay_ns_min && faults.delay_ns_min <= faults.delay_ns_max);
  faults_ = faults;
}

void SimNetwork::partition(std::set<std::string> side) {
  partitioned_ = std::move(side);
  trace(partitioned_.empty() ? "healed" : "partition of " + std::to_string(partitioned_.size()));
}

void SimNetwork::on_trace(std::function<void(const std::string&)> observer) {
  observer_ = std::move(observer);
}

base::Result<void> SimNetwork::listen(SimEndpoint& owner, const std::string& address) {
  if (address.empty()) return base::fail(base::Code::kInvalid, "listen at an empty address");
  if (!listeners_.try_emplace(address, &owner).second) {
    return base::fail_errno(EADDRINUSE, "listen at " + address);
  }
  return {};
}

base::Result<ConnectionId> SimNetwork::connect(SimEndpoint& owner, const std::string& address) {
  if (address.empty()) return base::fail(base::Code::kInvalid, "connect to an empty address");
  if (is_full(owner)) {
    return base::fail(base::Code::kRetry, "too many connections to open one to " + address);
  }
  const ConnectionId id = add_side(owner);
  at(clock_.now_ns() + draw_delay_ns(),
     [this, id, node = owner.node(), address] { arrive_request(id, node, address); });
  at(clock_.now_ns() + kSimConnectNsMax, [this, id, address] { expire_request(id, address); });
  return id;
}

bool SimNetwork::is_full(const SimEndpoint& owner) const {
  const auto count = std::count_if(sides_.begin(), sides_.end(),
                                   [&](const auto& entry) { return entry.second.owner == &owner; });
  return static_cast<size_t>(count) >= limits_.connections_max;
}

ConnectionId SimNetwork::add_side(SimEndpoint& owner) {
  const ConnectionId id{next_id_++};
  sides_.emplace(id, Side{.owner = &owner, .frame_bytes_max = limits_.frame_bytes_max});
  return id;
}

void SimNetwork::arrive_request(ConnectionId from, const std::string& from_node,
                                const std::string& address) {
  const auto listener = listeners_.find(address);
  if (!sides_.contains(from)) return;
  if (listener == listeners_.end() || is_full(*listener->second)) {
    trace(from_node + " is refused at " + address);
    const Route refusal{from_node, from_node, ConnectionId{}, from};
    at(clock_.now_ns() + draw_delay_ns(), [this, refusal] { arrive_answer(refusal, false); });
    return;
  }
  SimEndpoint& owner = *listener->second;
  if (cut(from_node, owner.node())) {
    trace(from_node + "->" + owner.node() + " request lost in the partition");
    return;
  }
  trace(from_node + "->" + owner.node() + " connected");
  const ConnectionId id = add_side(owner);
  Side& side = sides_.at(id);
  side.peer = from;
  side.peer_node = from_node;
  side.open = true;
  side.last_arrival_ns = clock_.now_ns() + draw_delay_ns();
  at(side.last_arrival_ns, [this, route = route_of(id, side)] { arrive_answer(route, true); });
  owner.deliver({.kind = Event::Kind::kConnected,
                 .connection = id,
                 .incoming = true,
                 .listener = address,
                 .peer = from_node});
}

void SimNetwork::arrive_answer(const Route& route, bool accepted) {
  if (cut(route.from_node, route.to_node)) return;
  const auto found = sides_.find(route.to);
  if (found == sides_.end()) {
    if (accepted) send_close({route.to_node, route.from_node, route.to, route.from}, 0);
    return;
  }
  if (!accepted) {
    end(route.to, base::fail_errno(ECONNREFUSED, "connect").error);
    return;
  }
  Side& side = found->second;
  side.peer = route.from;
  side.peer_node = route.from_node;
  side.open = true;
  for (const base::Bytes& frame : std::exchange(side.held, {})) send_frame(route.to, side, frame);
  side.owner->deliver({.kind = Event::Kind::kConnected, .connection = route.to});
}

void SimNetwork::expire_request(ConnectionId id, const std::string& address) {
  const auto found = sides_.find(id);
  if (found == sides_.end() || found->second.open) return;
  end(id, base::fail_errno(ETIMEDOUT, "connect to " + address).error);
}

base::Result<void> SimNetwork::send(SimEndpoint& owner, ConnectionId id, base::ByteView frame) {
  const auto found = sides_.find(id);
  if (found == sides_.end() || found->second.owner != &owner) return connection_gone();
  if (frame.size() > limits_.frame_bytes_max) {
    return frame_too_long(frame.size(), limits_.frame_bytes_max);
  }
  Side& side = found->second;
  if (side.open) {
    send_frame(id, side, base::copy_of(frame));
    return {};
  }
  if (side.held_bytes > 0 && side.held_bytes + frame.size() > limits_.unsent_bytes_max) {
    return too_much_unsent(side.held_bytes);
  }
  side.held.push_back(base::copy_of(frame));
  side.held_bytes += frame.size();
  return {};
}

void SimNetwork::send_frame(ConnectionId id, Side& side, const base::Bytes& frame) {
  const Route route = route_of(id, side);
  if (random_.chance(faults_.drop_per_million, kMillion)) {
    trace(describe(route.from_node, route.to_node, frame) + ": dropped");
    return;
  }
  const int copies = random_.chance(faults_.duplicate_per_million, kMillion) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    int64_t arrival_ns = clock_.now_ns() + draw_delay_ns();
    if (random_.chance(faults_.reorder_per_million, kMillion)) {
      // Held back by several delays, and later frames do not wait for it.
      arrival_ns += draw_delay_ns() + draw_delay_ns() + draw_delay_ns();
    } else {
      side.last_arrival_ns = arrival_ns = std::max(arrival_ns, side.last_arrival_ns);
    }
    at(arrival_ns, [this, route, frame] { arrive_frame(route, frame); });
  }
}

void SimNetwork::arrive_frame(const Route& route, const base::Bytes& frame) {
  const std::string line = describe(route.from_node, route.to_node, frame);
  if (cut(route.from_node, route.to_node)) {
    trace(line + ": lost in the partition");
    return;
  }
  const auto found = sides_.find(route.to);
  if (found == sides_.end()) {
    trace(line + ": nobody there");
    send_close({route.to_node, route.from_node, route.to, route.from}, 0);
    return;
  }
  if (frame.size() > found->second.frame_bytes_max) {
    trace(line + ": too long");
    send_close({route.to_node, route.from_node, route.to, route.from}, 0);
    end(route.to, announced_too_long(frame.size(), found->second.frame_bytes_max).error);
    return;
  }
  trace(line);
  found->second.owner->deliver(
      {.kind = Event::Kind::kFrame, .connection = route.to, .frame = frame});
}

void SimNetwork::limit_frames(SimEndpoint& owner, ConnectionId id, size_t frame_bytes_max) {
  TESSERA_ASSERT(frame_bytes_max <= limits_.frame_bytes_max);
  const auto found = sides_.find(id);
  if (found == sides_.end() || found->second.owner != &owner) return;
  found->second.frame_bytes_max = frame_bytes_max;
}

void SimNetwork::close(SimEndpoint& owner, ConnectionId id) {
  const auto found = sides_.find(id);
  if (found == sides_.end() || found->second.owner != &owner) return;
  const Side side = found->second;
  sides_.erase(found);
  if (side.open) send_close(route_of(id, side), side.last_arrival_ns);
}

void SimNetwork::send_close(const Route& route, int64_t not_before_ns) {
  const int64_t arrival_ns = std::max(clock_.now_ns() + draw_delay_ns(), not_before_ns);
  at(arrival_ns, [this, route] { arrive_close(route); });
}

void SimNetwork::arrive_close(const Route& route) {
  if (cut(route.from_node, route.to_node) || !sides_.contains(route.to)) return;
  trace(route.from_node + "->" + route.to_node + " closed");
  end(route.to, closed_by_peer());
}

void SimNetwork::end(ConnectionId id, base::Error reason) {
  const auto found = sides_.find(id);
  SimEndpoint& owner = *found->second.owner;
  sides_.erase(found);
  owner.deliver({.kind = Event::Kind::kClosed, .connection = id, .reason = std::move(reason)});
}

void SimNetwork::leave(SimEndpoint& owner) {
  std::erase_if(listeners_, [&](const auto& entry) { return entry.second == &owner; });
  std::vector<ConnectionId> own;
  for (const auto& [id, side] : sides_) {
    if (side.owner == &owner) own.push_back(id);
  }
  for (const ConnectionId id : own) close(owner, id);
  --endpoint_count_;
}

bool SimNetwork::cut(const std::string& a, const std::string& b) const {
  return partitioned_.contains(a) != partitioned_.contains(b);
}

SimNetwork::Route SimNetwork::route_of(ConnectionId id, const Side& side) const {
  return {side.owner->node(), side.peer_node, id, side.peer};
}

int64_t SimNetwork::draw_delay_ns() {
  const auto width = static_cast<uint64_t>(faults_.delay_ns_max - faults_.delay_ns_min);
  return faults_.delay_ns_min + static_cast<int64_t>(random_.uniform(width + 1));
}

void SimNetwork::at(int64_t time_ns, std::function<void()> action) {
  clock_.set_timer(time_ns,
                   [alive = std::weak_ptr<const bool>(alive_), action = std::move(action)] {
                     if (!alive.expired()) action();
                   });
}

void SimNetwork::trace(const std::string& line) {
  const std::string timed = std::to_string(clock_.now_ns()) + " " + line;
  trace_digest_ = base::fnv(trace_digest_, base::bytes_of(timed + "\n"));
  if (observer_) observer_(timed);
}

SimEndpoint::~SimEndpoint() { network_.leave(*this); }

base::Result<std::string> SimEndpoint::listen(const std::string& address) {
  TESSERA_TRY_VOID(network_.listen(*this, address));
  return address;
}

base::Result<ConnectionId> SimEndpoint::connect(const std::string& address) {
  return network_.connect(*this, address);
}

base::Result<void> SimEndpoint::send(ConnectionId connection, base::ByteView frame) {
  return network_.send(*this, connection, frame);
}

void SimEndpoint::limit_frames(ConnectionId connection, size_t frame_bytes_max) {
  network_.limit_frames(*this, connection, frame_bytes_max);
}

void SimEndpoint::close(ConnectionId connection) {
  network_.close(*this, connection);
  std::erase_if(events_, [&](const Event& event) { return event.connection == connection; });
}

std::optional<Event> SimEndpoint::next_event(int64_t wait_ns_max) {
  SimClock& clock = network_.clock_;
  const int64_t deadline_ns = base::checked_add(clock.now_ns(), std::max<int64_t>(wait_ns_max, 0))
                                  .value_or(std::numeric_limits<int64_t>::max());
  while (events_.empty() && clock.run_next_until(deadline_ns)) {
  }
  if (events_.empty()) {
    clock.sleep_until(deadline_ns);
    return std::nullopt;
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void SimEndpoint::deliver(Event event) {
  if (callback_) {
    callback_(std::move(event));
  } else {
    events_.push_back(std::move(event));
  }
}

}  // namespace tessera::port
