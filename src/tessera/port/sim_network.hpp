// SimNetwork: transports of many simulated nodes in one thread, with faults from a seed.
//
// Everything that is under way is a timer of the SimClock, and every choice comes from one seeded
// stream, so the same program with the same seed gives the same trace.
//   (N1) Without faults the endpoints keep (T1) to (T4) of transport.hpp.
//   (N2) Between the two sides of a partition nothing arrives, neither frames nor connections nor
//        their ends; what would arrive meanwhile is lost. Who is cut off learns nothing, as in the
//        world.
//   (N3) A frame that reaches a node which knows the connection no more ends it at the sender too.
// A server may take its events as they arrive, by on_event(), while a client waits in next_event(),
// which advances the clock. An endpoint that is destroyed closes its connections, as a process does
// that dies; partition its node before to have them silent, as a machine that dies.
// Thread safety: none; a simulation is one thread. Endpoints must go before the network, and the
// network before the clock.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_clock.hpp"
#include "tessera/port/transport.hpp"

namespace tessera::port {

struct NetworkFaults {
  int64_t delay_ns_min = 50'000;
  int64_t delay_ns_max = 200'000;
  uint64_t drop_per_million = 0;       // frames lost
  uint64_t duplicate_per_million = 0;  // frames that arrive twice
  uint64_t reorder_per_million = 0;    // frames held back, so that later ones overtake them
};

// After this time a connection that gets no answer ends with ETIMEDOUT.
inline constexpr int64_t kSimConnectNsMax = 1'000'000'000;

class SimEndpoint;

class SimNetwork {
 public:
  SimNetwork(SimClock& clock, uint64_t seed, TransportLimits limits = {});
  ~SimNetwork();
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  // A process on the named node. Addresses are arbitrary texts, shared by all nodes.
  [[nodiscard]] std::unique_ptr<SimEndpoint> endpoint(const std::string& node);

  // Requires 0 <= delay_ns_min <= delay_ns_max. Holds for what is sent from now on.
  void set_faults(const NetworkFaults& faults);
  // Cuts these nodes off from all others, instead of any partition before.
  void partition(std::set<std::string> side);
  void heal() { partition({}); }

  // Called with a line for each thing that happens, frames with a digest of their bytes.
  void on_trace(std::function<void(const std::string&)> observer);
  // A digest of all those lines: equal runs have equal digests.
  [[nodiscard]] uint64_t trace_digest() const { return trace_digest_; }

 private:
  friend class SimEndpoint;

  // One side of a connection.
  struct Side {
    SimEndpoint* owner;
    ConnectionId peer{};  // not yet known while connecting
    std::string peer_node = {};
    bool open = false;
    size_t frame_bytes_max = 0;          // of what it receives
    int64_t last_arrival_ns = 0;         // of what this side sent: later things arrive later
    std::vector<base::Bytes> held = {};  // frames sent while connecting
    size_t held_bytes = 0;
  };

  // Names who sends what to whom; sides may be gone when it arrives.
  struct Route {
    std::string from_node;
    std::string to_node;
    ConnectionId from;
    ConnectionId to;
  };

  [[nodiscard]] base::Result<void> listen(SimEndpoint& owner, const std::string& address);
  [[nodiscard]] base::Result<ConnectionId> connect(SimEndpoint& owner, const std::string& address);
  [[nodiscard]] base::Result<void> send(SimEndpoint& owner, ConnectionId id, base::ByteView frame);
  void limit_frames(SimEndpoint& owner, ConnectionId id, size_t frame_bytes_max);
  void close(SimEndpoint& owner, ConnectionId id);
  void leave(SimEndpoint& owner);

  [[nodiscard]] bool is_full(const SimEndpoint& owner) const;
  ConnectionId add_side(SimEndpoint& owner);
  void arrive_request(ConnectionId from, const std::string& from_node, const std::string& address);
  void arrive_answer(const Route& route, bool accepted);
  void expire_request(ConnectionId id, const std::string& address);
  void send_frame(ConnectionId id, Side& side, const base::Bytes& frame);
  void arrive_frame(const Route& route, const base::Bytes& frame);
  void send_close(const Route& route, int64_t not_before_ns);
  void arrive_close(const Route& route);
  void end(ConnectionId id, base::Error reason);

  [[nodiscard]] bool cut(const std::string& a, const std::string& b) const;
  [[nodiscard]] Route route_of(ConnectionId id, const Side& side) const;
  int64_t draw_delay_ns();
  void at(int64_t time_ns, std::function<void()> action);
  void trace(const std::string& line);

  SimClock& clock_;
  SeededRandom random_;
  const TransportLimits limits_;
  NetworkFaults faults_;
  std::set<std::string> partitioned_;
  uint64_t next_id_ = 1;
  std::map<ConnectionId, Side> sides_;
  std::map<std::string, SimEndpoint*> listeners_;
  size_t endpoint_count_ = 0;
  std::function<void(const std::string&)> observer_;
  uint64_t trace_digest_;
  // Timers outlive the network where the clock does; they look here first.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

class SimEndpoint final : public Transport {
 public:
  ~SimEndpoint() override;

  [[nodiscard]] base::Result<std::string> listen(const std::string& address) override;
  [[nodiscard]] base::Result<ConnectionId> connect(const std::string& address) override;
  [[nodiscard]] base::Result<void> send(ConnectionId connection, base::ByteView frame) override;
  void limit_frames(ConnectionId connection, size_t frame_bytes_max) override;
  void close(ConnectionId connection) override;
  // Advances the clock until an event is there or the time is over.
  [[nodiscard]] std::optional<Event> next_event(int64_t wait_ns_max) override;

  // Hands events to the callback as they arrive, instead of keeping them for next_event().
  void on_event(std::function<void(Event)> callback) { callback_ = std::move(callback); }
  [[nodiscard]] const std::string& node() const { return node_; }

 private:
  friend class SimNetwork;

  SimEndpoint(SimNetwork& network, std::string node) : network_(network), node_(std::move(node)) {}
  void deliver(Event event);

  SimNetwork& network_;
  const std::string node_;
  std::function<void(Event)> callback_;
  std::deque<Event> events_;
};

}  // namespace tessera::port
