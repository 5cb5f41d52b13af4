// A simulated world for the lock service: clients, proxies, a server, a store and a network that
// fail.
//
// Clients write only under locks that they hold; the store asks at every write that it takes
// whether the server, or a proxy, has promised these bytes to another session. Clients die, freeze
// in the middle of a write and go on later, and so do proxies; the network loses, repeats, reorders
// and is cut; the server is killed and started again. Half of the locks are recallable, and kept
// after their use until somebody else wants them.
// Everything comes from one seed. Thread safety: none; one thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/lock/lock_client.hpp"
#include "tessera/lock/lock_proxy.hpp"
#include "tessera/lock/lock_server.hpp"
#include "tessera/pattern/model_test_support.hpp"
#include "tessera/pattern/overlap.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_network.hpp"

namespace tessera::lock::world {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLeaseNs = 1000 * kMs;
constexpr int64_t kGraceNs = kLeaseNs + 100 * kMs;
// A write is on its way for at most so long, unless its client is frozen.
constexpr int64_t kWriteNsMax = 40 * kMs;
constexpr int64_t kTickNs = 7 * kMs;

// What goes wrong, and which protections are there.
struct Weather {
  bool freezes = true;
  bool restarts = true;
  bool deaths = true;
  bool cuts = true;
  bool loses_frames = true;
  bool fences = true;        // the store refuses dead sessions
  bool grace = true;         // a new server waits for those who reclaim
  bool checks_lease = true;  // no write is begun that may take longer than the lease
  bool recalls = true;       // what the server says of locks that are wanted arrives
  bool heeds = true;         // clients give back what is recalled
  bool proxies = false;      // two clients each talk to one
  bool drains = true;        // proxies give nothing back that is in use
  bool honest = true;        // leases of proxies end before their own
  bool names_proxy = true;   // writes carry the session of the proxy
  // Of so many writes one is on its way for up to three leases, and its client frozen for as long.
  uint64_t late_one_in = 10;
};

struct Score {
  int64_t written = 0;
  int64_t refused = 0;  // writes of dead sessions
  int64_t violations = 0;
  int64_t late = 0;       // writes that arrive when their lock is over, by the server's word
  int64_t overtaken = 0;  // of these, those whose bytes others have by then
  int64_t late_refused = 0;
  int64_t granted = 0;
  int64_t lost = 0;
  int64_t reused = 0;       // writes under a lock that was kept
  int64_t recalled = 0;     // locks that were given back because somebody waited
  int64_t wait_ns_max = 0;  // from a request to its lock
  int64_t delegations = 0;  // these of proxies
  int64_t returned = 0;
  int64_t passed = 0;
  bool all_served = false;
};

class World;

// The store: takes writes of sessions that it was not told to refuse.
class Store {
 public:
  explicit Store(World& world) : world_(world) {}
  // Whose write it is stands beside what a real one carries.
  struct Write {
    Identity own;
    Identity via;  // of the proxy, if there is one
    std::string client;
    Sequence sequence = 0;
    Claim claim;
  };
  void take(const Write& write);
  void refuse(const Identity& who) { dead_.insert(who); }
  void refuse_others(uint64_t epoch) { only_epoch_ = epoch; }

 private:
  // Where a write stands by the word of the server, or of a proxy.
  struct Look {
    bool held = false;   // under the lock that it was begun under
    int64_t others = 0;  // have been promised its bytes
  };
  [[nodiscard]] Look look(const LockServer& server, const std::string& own,
                          const Write& write) const;
  // The same by all of them together.
  struct Verdict {
    bool late = false;
    int64_t others = 0;
  };
  [[nodiscard]] Verdict judge(const Write& write) const;

  World& world_;
  std::set<Identity> dead_;
  std::optional<uint64_t> only_epoch_;
};

class ServerNode final : public Fences {
 public:
  ServerNode(World& world, bool restarted);
  void begin(uint64_t epoch, SessionId session) override;
  void begin_epoch(uint64_t epoch) override;
  void tick();

  [[nodiscard]] const LockServer& server() const { return server_; }

 private:
  void take(const port::Event& event);

  World& world_;
  std::unique_ptr<port::SimEndpoint> endpoint_;
  LockServer server_;
  // Timers must not find another server.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// The connection of a client or a proxy to a server: made again whenever it is gone.
class Uplink {
 public:
  struct Hooks {
    std::function<void(int64_t now_ns)> connected;
    std::function<void()> disconnected;
    std::function<base::Result<void>(base::ByteView frame, int64_t now_ns)> receive;
    std::function<bool(int64_t now_ns)> is_stalled;
  };
  Uplink(World& world, port::SimEndpoint& endpoint, std::string address, Hooks hooks)
      : world_(world),
        endpoint_(endpoint),
        address_(std::move(address)),
        hooks_(std::move(hooks)) {}
  void send(const base::Bytes& frame) {
    if (connection_) static_cast<void>(endpoint_.send(*connection_, frame));
  }
  [[nodiscard]] bool is_mine(const port::Event& event) const {
    return connection_ == event.connection;
  }
  // Requires that it is mine.
  void take(const port::Event& event);
  void tick();

 private:
  void connect();

  World& world_;
  port::SimEndpoint& endpoint_;
  const std::string address_;
  const Hooks hooks_;
  std::optional<port::ConnectionId> connection_;
  int64_t connect_at_ns_ = 0;
};

class ProxyNode final : public Fences {
 public:
  ProxyNode(World& world, int number);
  ~ProxyNode() override;
  void begin(uint64_t epoch, SessionId session) override;
  void begin_epoch(uint64_t /*epoch*/) override { ADD_FAILURE() << "a proxy is never restarted"; }
  void tick();
  void freeze(int64_t until_ns) { frozen_until_ns_ = until_ns; }

  [[nodiscard]] const LockProxy& proxy() const { return proxy_; }

 private:
  [[nodiscard]] LockProxy::Links links();
  void take(const port::Event& event);
  [[nodiscard]] base::Result<void> take_up(base::ByteView frame, int64_t now_ns);
  void send(LockProxy::Peer peer, const base::Bytes& frame);

  World& world_;
  const std::string name_;
  std::unique_ptr<port::SimEndpoint> endpoint_;
  LockProxy proxy_;
  Uplink uplink_;
  int64_t frozen_until_ns_ = 0;
  std::deque<port::Event> unseen_;
  // Timers must not find another proxy.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class ClientNode {
 public:
  ClientNode(World& world, int number);
  void tick();
  void freeze(int64_t until_ns) { frozen_until_ns_ = until_ns; }
  // Whether it waits for nothing, and nobody for it as far as it knows.
  [[nodiscard]] bool idle() const {
    const bool keeps = lock_ && lock_->granted && lock_->recallable && !lock_->wanted;
    return !writing_ && (client_.idle() || keeps);
  }
  [[nodiscard]] const std::string& name() const { return name_; }

  World& world;

 private:
  void take_event(const LockClient::Event& event);
  void ask();
  void begin_write();
  void end_write();
  // What it does with a lock that it has used.
  void keep_or_release();

  struct Lock {
    Sequence sequence = 0;
    Claim claim;
    bool recallable = false;
    int64_t asked_ns = 0;
    bool granted = false;
    bool wanted = false;
  };

  const std::string name_;
  std::unique_ptr<port::SimEndpoint> endpoint_;
  LockClient client_;
  Uplink uplink_;
  int64_t frozen_until_ns_ = 0;
  std::deque<port::Event> unseen_;
  std::optional<Lock> lock_;
  bool writing_ = false;
  int64_t write_at_ns_ = 0;
};

class World {
 public:
  World(const Weather& given, uint64_t seed)
      : weather(given), random(seed), network(clock, seed + 1), store(*this) {
    port::NetworkFaults faults;
    faults.delay_ns_max = 3 * kMs;
    if (weather.loses_frames) {
      faults.drop_per_million = 10'000;
      faults.duplicate_per_million = 10'000;
      faults.reorder_per_million = 10'000;
    }
    network.set_faults(faults);
    server = std::make_unique<ServerNode>(*this, false);
    proxies.resize(weather.proxies ? 2 : 0);
    start_proxies();
    for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<ClientNode>(*this, i));
  }
  ~World() {
    clients.clear();
    proxies.clear();
    server.reset();
  }

  Score run(int64_t stormy_ns) {
    while (clock.now_ns() < stormy_ns) {
      spoil();
      step();
    }
    // Fair weather: everybody finishes what was begun.
    calm = true;
    network.heal();
    network.set_faults({});
    if (!server) server = std::make_unique<ServerNode>(*this, true);
    start_proxies();
    const int64_t end_ns = clock.now_ns() + 20 * kLeaseNs;
    const auto idle = [](const auto& client) { return client->idle(); };
    while (clock.now_ns() < end_ns && !std::all_of(clients.begin(), clients.end(), idle)) step();
    score.all_served = std::all_of(clients.begin(), clients.end(), idle);
    proxies.clear();
    server.reset();
    return score;
  }

  [[nodiscard]] int64_t now_ns() const { return clock.now_ns(); }
  [[nodiscard]] int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random.uniform(static_cast<uint64_t>(high - low + 1)));
  }

  const Weather weather;
  bool calm = false;
  int lives = 0;  // of clients and proxies so far
  port::SeededRandom random;
  port::SimClock clock;
  port::SimNetwork network;
  Store store;
  std::unique_ptr<ServerNode> server;
  std::vector<std::unique_ptr<ProxyNode>> proxies;
  std::map<uint64_t, std::string> proxy_names;  // by the epoch of what they serve
  std::vector<std::unique_ptr<ClientNode>> clients;
  Score score;

 private:
  void step() {
    clock.advance_by(kTickNs);
    if (server) server->tick();
    for (const auto& proxy : proxies) {
      if (proxy) proxy->tick();
    }
    for (const auto& client : clients) client->tick();
  }

  void start_proxies() {
    for (size_t i = 0; i < proxies.size(); ++i) {
      if (!proxies[i]) proxies[i] = std::make_unique<ProxyNode>(*this, static_cast<int>(i));
    }
  }

  void spoil_proxies() {
    const size_t which = random.uniform(proxies.size());
    if (weather.freezes && proxies[which] && random.chance(1, 150)) {
      proxies[which]->freeze(now_ns() + between(1, 3 * kLeaseNs));
    }
    if (weather.deaths && random.chance(1, 250)) proxies[which].reset();
    if (random.chance(1, 10)) start_proxies();
    if (weather.cuts && random.chance(1, 100)) {
      const std::string number = std::to_string(which);
      std::set<std::string> cut_off = {"proxy" + number};
      // The whole node, or only the proxy.
      if (random.chance(2, 3)) {
        cut_off.insert("client" + std::to_string(2 * which));
        cut_off.insert("client" + std::to_string(2 * which + 1));
      }
      network.partition(std::move(cut_off));
    }
  }

  void spoil() {
    if (!proxies.empty()) spoil_proxies();
    if (weather.freezes && random.chance(1, 60)) {
      clients[random.uniform(clients.size())]->freeze(now_ns() + between(1, 3 * kLeaseNs));
    }
    if (weather.deaths && random.chance(1, 150)) {
      const size_t who = random.uniform(clients.size());
      clients[who].reset();
      clients[who] = std::make_unique<ClientNode>(*this, static_cast<int>(who));
    }
    if (weather.cuts && random.chance(1, 100)) {
      network.partition({"client" + std::to_string(random.uniform(clients.size()))});
    }
    if (random.chance(1, 40)) network.heal();
    if (weather.restarts && server && random.chance(1, 150)) server.reset();
    if (!server && random.chance(1, 10)) server = std::make_unique<ServerNode>(*this, true);
  }
};

inline void Store::take(const Write& write) {
  const Identity& top = write.via.session != 0 ? write.via : write.own;
  const bool dead = dead_.contains(write.own) || dead_.contains(write.via) ||
                    (only_epoch_ && top.epoch != *only_epoch_);
  const bool refused = world_.weather.fences && dead;
  const Verdict verdict = judge(write);
  Score& score = world_.score;
  if (verdict.late) {
    ++score.late;
    if (verdict.others > 0) ++score.overtaken;
    if (refused) ++score.late_refused;
  }
  if (refused) {
    ++score.refused;
    return;
  }
  ++score.written;
  score.violations += verdict.others;
}

// A server in its grace period does not know yet who has what, nor does one that proxies stand
// before.
inline Store::Verdict Store::judge(const Write& write) const {
  Verdict verdict;
  if (world_.server) {
    const LockServer& server = world_.server->server();
    const auto proxy = world_.proxy_names.find(write.own.epoch);
    const Look seen = look(server, proxy == world_.proxy_names.end() ? "" : proxy->second, write);
    verdict.others += seen.others;
    verdict.late = !seen.held && !server.in_grace() && world_.proxies.empty();
  }
  for (const auto& other : world_.proxies) {
    const LockServer* server = other ? other->proxy().server() : nullptr;
    if (server != nullptr && server->epoch() == write.own.epoch) {
      verdict.others += look(*server, "", write).others;
    }
  }
  return verdict;
}

inline Store::Look Store::look(const LockServer& server, const std::string& own,
                               const Write& write) const {
  Look seen;
  server.for_each(world_.now_ns(), [&](const LockServer::View& other) {
    if (other.state != LockState::kHeld) return;
    // A lock that was reclaimed has a new session, and is still its client's. What the writer's
    // proxy has is the writer's, as far as the server knows.
    const bool mine = write.client == other.client && write.sequence == other.sequence;
    seen.held |= mine;
    if (mine || other.client == own || !conflict(other.claim->mode, write.claim.mode)) return;
    if (pattern::overlaps(other.claim->bytes, write.claim.bytes).value()) ++seen.others;
  });
  return seen;
}

inline LockServerSettings settings_of(const Weather& weather, bool restarted) {
  LockServerSettings settings;
  settings.lease_ns = kLeaseNs;
  settings.grace_ns = weather.grace ? kGraceNs : 1;
  settings.restarted = restarted && weather.grace;
  return settings;
}

inline ServerNode::ServerNode(World& of, bool restarted)
    : world_(of),
      endpoint_(of.network.endpoint("server")),
      server_(settings_of(of.weather, restarted), of.random, of.weather.fences ? this : nullptr,
              [this](LockServer::Peer peer, const base::Bytes& frame) {
                if (!world_.weather.recalls && std::holds_alternative<Recall>(*decode(frame))) {
                  return;
                }
                static_cast<void>(endpoint_->send(port::ConnectionId{peer}, frame));
              }) {
  EXPECT_TRUE(endpoint_->listen("locks"));
  endpoint_->on_event([this](const port::Event& event) { take(event); });
  server_.start(world_.now_ns());
}

inline void ServerNode::take(const port::Event& event) {
  const auto peer = static_cast<LockServer::Peer>(event.connection);
  if (event.kind == port::Event::Kind::kClosed) server_.disconnect(peer);
  if (event.kind != port::Event::Kind::kFrame) return;
  if (!server_.receive(peer, event.frame, world_.now_ns())) {
    server_.disconnect(peer);
    endpoint_->close(event.connection);
  }
}

inline void ServerNode::begin(uint64_t epoch, SessionId session) {
  const auto later = [&] { return world_.now_ns() + world_.between(1, 30 * kMs); };
  World& of = world_;
  const std::weak_ptr<bool> alive = alive_;
  world_.clock.set_timer(later(), [&of, alive, epoch, session, this] {
    of.store.refuse({epoch, session});
    of.clock.set_timer(of.now_ns() + of.between(1, 30 * kMs), [alive, session, this] {
      if (!alive.expired()) server_.fenced(session);
    });
  });
}

inline void ServerNode::begin_epoch(uint64_t epoch) {
  World& of = world_;
  const std::weak_ptr<bool> alive = alive_;
  world_.clock.set_timer(of.now_ns() + of.between(1, 30 * kMs), [&of, alive, epoch, this] {
    if (alive.expired()) return;
    of.store.refuse_others(epoch);
    server_.epoch_fenced();
  });
}

inline void ServerNode::tick() {
  server_.advance(world_.now_ns());
  server_.check_invariants();
}

inline void Uplink::connect() {
  if (connection_) endpoint_.close(*connection_);
  hooks_.disconnected();
  connection_.reset();
  connect_at_ns_ = world_.now_ns() + world_.between(1, 50 * kMs);
}

inline void Uplink::take(const port::Event& event) {
  switch (event.kind) {
    case port::Event::Kind::kConnected:
      hooks_.connected(world_.now_ns());
      break;
    case port::Event::Kind::kFrame:
      // What is repeated or out of order may make no sense; then another connection will.
      if (!hooks_.receive(event.frame, world_.now_ns())) connect();
      break;
    case port::Event::Kind::kClosed:
      connection_.reset();
      connect();
      break;
  }
}

inline void Uplink::tick() {
  const int64_t now_ns = world_.now_ns();
  if (hooks_.is_stalled(now_ns)) connect();
  if (!connection_ && now_ns >= connect_at_ns_) {
    const auto made = endpoint_.connect(address_);
    if (made) connection_ = *made;
    if (!made) connect_at_ns_ = now_ns + 50 * kMs;
  }
}

inline ProxyNode::ProxyNode(World& of, int which)
    : world_(of),
      name_("proxy " + std::to_string(which) + ", life " + std::to_string(++of.lives)),
      endpoint_(of.network.endpoint("proxy" + std::to_string(which))),
      proxy_(name_, {}, of.random, of.weather.fences ? this : nullptr, links()),
      uplink_(of, *endpoint_, "locks",
              {[this](int64_t now_ns) { proxy_.connected_up(now_ns); },
               [this] { proxy_.disconnected_up(); },
               [this](base::ByteView frame, int64_t now_ns) { return take_up(frame, now_ns); },
               [this](int64_t now_ns) { return proxy_.is_stalled_up(now_ns); }}) {
  EXPECT_TRUE(endpoint_->listen("proxy" + std::to_string(which)));
  endpoint_->on_event([this](const port::Event& event) { unseen_.push_back(event); });
}

inline ProxyNode::~ProxyNode() {
  world_.score.delegations += static_cast<int64_t>(proxy_.counts().delegations);
  world_.score.returned += static_cast<int64_t>(proxy_.counts().recalled);
  world_.score.passed += static_cast<int64_t>(proxy_.counts().passed);
}

inline LockProxy::Links ProxyNode::links() {
  return {[this](LockProxy::Peer peer, const base::Bytes& frame) { send(peer, frame); },
          [this](LockProxy::Peer peer) { endpoint_->close(port::ConnectionId{peer}); },
          [this](const base::Bytes& frame) { uplink_.send(frame); }};
}

// A dishonest proxy promises more than it has.
inline void ProxyNode::send(LockProxy::Peer peer, const base::Bytes& frame) {
  base::Bytes sent = frame;
  Message message = *decode(frame);
  if (auto* welcome = std::get_if<Welcome>(&message); welcome && !world_.weather.honest) {
    welcome->lease_ns *= 12;
    sent = encode(message);
  }
  static_cast<void>(endpoint_->send(port::ConnectionId{peer}, sent));
}

// One that does not drain gives back what is recalled at once.
inline base::Result<void> ProxyNode::take_up(base::ByteView frame, int64_t now_ns) {
  const auto message = decode(frame);
  const auto taken = proxy_.receive_up(frame, now_ns);
  const auto* recall = message ? std::get_if<Recall>(&*message) : nullptr;
  if (recall != nullptr && !world_.weather.drains) {
    uplink_.send(encode(Release{recall->sequence, 1, now_ns}));
  }
  return taken;
}

inline void ProxyNode::take(const port::Event& event) {
  if (uplink_.is_mine(event)) {
    uplink_.take(event);
    return;
  }
  const auto peer = static_cast<LockProxy::Peer>(event.connection);
  if (event.kind == port::Event::Kind::kClosed) proxy_.disconnect(peer);
  if (event.kind != port::Event::Kind::kFrame) return;
  if (!proxy_.receive(peer, event.frame, world_.now_ns())) {
    proxy_.disconnect(peer);
    endpoint_->close(event.connection);
  }
}

inline void ProxyNode::begin(uint64_t epoch, SessionId session) {
  World& of = world_;
  const std::weak_ptr<bool> alive = alive_;
  of.clock.set_timer(of.now_ns() + of.between(1, 30 * kMs), [&of, alive, epoch, session, this] {
    of.store.refuse({epoch, session});
    if (!alive.expired()) proxy_.fenced(session);
  });
}

inline void ProxyNode::tick() {
  const int64_t now_ns = world_.now_ns();
  if (now_ns < frozen_until_ns_) return;
  while (!unseen_.empty()) {
    const port::Event event = std::move(unseen_.front());
    unseen_.pop_front();
    take(event);
  }
  proxy_.advance(now_ns);
  uplink_.tick();
  proxy_.check_invariants(now_ns);
  if (proxy_.server() != nullptr) world_.proxy_names[proxy_.server()->epoch()] = name_;
}

inline std::string address_for(const Weather& weather, int client) {
  return weather.proxies ? "proxy" + std::to_string(client / 2) : "locks";
}

inline ClientNode::ClientNode(World& of, int which)
    : world(of),
      name_("client " + std::to_string(which) + ", life " + std::to_string(++of.lives)),
      endpoint_(of.network.endpoint("client" + std::to_string(which))),
      client_(name_, [this](const base::Bytes& frame) { uplink_.send(frame); }),
      uplink_(
          of, *endpoint_, address_for(of.weather, which),
          {[this](int64_t now_ns) { client_.connected(now_ns); },
           [this] { client_.disconnected(); },
           [this](base::ByteView frame, int64_t now_ns) { return client_.receive(frame, now_ns); },
           [this](int64_t now_ns) { return client_.is_stalled(now_ns); }}) {
  endpoint_->on_event([this](const port::Event& event) { unseen_.push_back(event); });
}

inline void ClientNode::take_event(const LockClient::Event& event) {
  if (!lock_ || lock_->sequence != event.sequence) return;
  Score& score = world.score;
  switch (event.kind) {
    case LockClient::Event::Kind::kGranted:
      ++score.granted;
      lock_->granted = true;
      score.wait_ns_max = std::max(score.wait_ns_max, world.now_ns() - lock_->asked_ns);
      begin_write();
      break;
    case LockClient::Event::Kind::kRecalled:
      lock_->wanted = true;
      break;
    case LockClient::Event::Kind::kLost:
      ++score.lost;
      lock_.reset();
      break;
    case LockClient::Event::Kind::kRefused:
      lock_.reset();
      break;
  }
}

inline void ClientNode::ask() {
  pattern::model::Engine engine(world.random.next());
  const auto set = pattern::model::random_set(engine).shifted(20).value();
  Lock lock;
  lock.claim = {set, world.random.chance(1, 3) ? Mode::kShared : Mode::kExclusive};
  lock.recallable = world.random.chance(1, 2);
  lock.asked_ns = world.now_ns();
  lock.sequence = client_.acquire(
      {.file = "file", .claim = lock.claim, .recallable = lock.recallable}, world.now_ns());
  lock_ = lock;
}

inline void ClientNode::begin_write() {
  writing_ = true;
  write_at_ns_ = world.now_ns() + world.between(0, kWriteNsMax - 2 * kTickNs);
}

// The last look at the lease and the write itself are one step of the program; whoever is frozen is
// so before, or between the two, where the write is late.
inline void ClientNode::end_write() {
  writing_ = false;
  if (!lock_) return;
  const bool safe = client_.holds(lock_->sequence, world.now_ns(), kWriteNsMax);
  if (safe || !world.weather.checks_lease) {
    const bool late = world.weather.freezes && world.random.chance(1, world.weather.late_one_in);
    const int64_t usual_ns = world.weather.checks_lease ? kWriteNsMax - kTickNs : kLeaseNs;
    const int64_t delay_ns = world.between(1, late ? 3 * kLeaseNs : usual_ns);
    World& of = world;
    const LockClient::Standing& standing = client_.standing(lock_->sequence);
    const Store::Write write = {standing.own, world.weather.names_proxy ? standing.via : Identity{},
                                name_, lock_->sequence, lock_->claim};
    world.clock.set_timer(world.now_ns() + delay_ns, [&of, write] { of.store.take(write); });
    // A frozen client releases nothing meanwhile.
    if (late) freeze(world.now_ns() + delay_ns + kTickNs);
    write_at_ns_ = world.now_ns() + delay_ns + kTickNs;
  }
}

inline void ClientNode::keep_or_release() {
  const bool wanted = lock_->wanted && world.weather.heeds;
  if (lock_->recallable && !wanted) {
    if (world.calm) return;
    if (world.random.chance(1, 8)) {
      ++world.score.reused;
      begin_write();
      return;
    }
    if (!world.random.chance(1, 40)) return;
  }
  if (wanted) ++world.score.recalled;
  client_.release(lock_->sequence, world.now_ns());
  lock_.reset();
}

inline void ClientNode::tick() {
  const int64_t now_ns = world.now_ns();
  if (now_ns < frozen_until_ns_) return;
  while (!unseen_.empty()) {
    const port::Event event = std::move(unseen_.front());
    unseen_.pop_front();
    if (uplink_.is_mine(event)) uplink_.take(event);
  }
  client_.advance(now_ns);
  uplink_.tick();
  for (const auto& event : client_.take_events()) take_event(event);
  if (writing_ && now_ns >= write_at_ns_) end_write();
  if (lock_ && !writing_ && now_ns >= write_at_ns_ && client_.holds(lock_->sequence, now_ns)) {
    keep_or_release();
  }
  if (!lock_ && !world.calm && world.random.chance(1, 5)) ask();
}

// Many worlds; their scores added up, and whether everybody was served in all of them.
inline Score run_worlds(const Weather& weather, int worlds) {
  Score sum;
  sum.all_served = true;
  const uint64_t seed = pattern::model::seed();
  for (int i = 0; i < worlds; ++i) {
    const Score score = World(weather, seed + static_cast<uint64_t>(i)).run(20 * kLeaseNs);
    if (weather.recalls && weather.heeds) {
      EXPECT_TRUE(score.all_served) << "TESSERA_SEED=" << seed + static_cast<uint64_t>(i);
    }
    sum.all_served &= score.all_served;
    sum.written += score.written;
    sum.refused += score.refused;
    sum.violations += score.violations;
    sum.late += score.late;
    sum.overtaken += score.overtaken;
    sum.late_refused += score.late_refused;
    sum.granted += score.granted;
    sum.lost += score.lost;
    sum.reused += score.reused;
    sum.delegations += score.delegations;
    sum.returned += score.returned;
    sum.passed += score.passed;
    sum.recalled += score.recalled;
    sum.wait_ns_max = std::max(sum.wait_ns_max, score.wait_ns_max);
  }
  return sum;
}

// Nobody dies, freezes or is cut off; only frames are lost, or not even those.
inline Weather fair_weather() {
  Weather weather;
  weather.freezes = weather.deaths = weather.cuts = weather.restarts = false;
  return weather;
}

}  // namespace tessera::lock::world
