// The lock service in a simulated world: clients, a server, a store and a network that fail.
//
// Clients write only under locks that they hold; the store asks at every write that it takes
// whether the server has promised these bytes to another session. Clients die, freeze in the middle
// of a write and go on later; the network loses, repeats, reorders and is cut; the server is killed
// and started again. Half of the locks are recallable, and kept after their use until somebody else
// wants them. Nobody may write under the lock of another, and in the end everybody who asked is
// served. Every control takes one protection away, and must fail.
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "tessera/lock/lock_client.hpp"
#include "tessera/lock/lock_server.hpp"
#include "tessera/pattern/model_test_support.hpp"
#include "tessera/pattern/overlap.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_network.hpp"

namespace tessera::lock {
namespace {

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
};

struct Score {
  int64_t written = 0;
  int64_t refused = 0;  // writes of dead sessions
  int64_t violations = 0;
  int64_t granted = 0;
  int64_t lost = 0;
  int64_t reused = 0;       // writes under a lock that was kept
  int64_t recalled = 0;     // locks that were given back because somebody waited
  int64_t wait_ns_max = 0;  // from a request to its lock
  bool all_served = false;
};

class World;

// The store: takes writes of sessions that it was not told to refuse.
class Store {
 public:
  explicit Store(World& world) : world_(world) {}
  // Whose write it is stands beside what a real one carries.
  struct Write {
    uint64_t epoch = 0;
    SessionId session = 0;
    std::string client;
    Sequence sequence = 0;
    Claim claim;
  };
  void take(const Write& write);
  void refuse(uint64_t epoch, SessionId session) { dead_.insert({epoch, session}); }
  void refuse_others(uint64_t epoch) { only_epoch_ = epoch; }

 private:
  World& world_;
  std::set<std::pair<uint64_t, SessionId>> dead_;
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

  World& world;

 private:
  void connect();
  void take(const port::Event& event);
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
  std::optional<port::ConnectionId> connection_;
  int64_t connect_at_ns_ = 0;
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
    for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<ClientNode>(*this, i));
  }
  ~World() {
    clients.clear();
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
    const int64_t end_ns = clock.now_ns() + 20 * kLeaseNs;
    const auto idle = [](const auto& client) { return client->idle(); };
    while (clock.now_ns() < end_ns && !std::all_of(clients.begin(), clients.end(), idle)) step();
    score.all_served = std::all_of(clients.begin(), clients.end(), idle);
    return score;
  }

  [[nodiscard]] int64_t now_ns() const { return clock.now_ns(); }
  [[nodiscard]] int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random.uniform(static_cast<uint64_t>(high - low + 1)));
  }

  const Weather weather;
  bool calm = false;
  int lives = 0;  // of clients so far
  port::SeededRandom random;
  port::SimClock clock;
  port::SimNetwork network;
  Store store;
  std::unique_ptr<ServerNode> server;
  std::vector<std::unique_ptr<ClientNode>> clients;
  Score score;

 private:
  void step() {
    clock.advance_by(kTickNs);
    if (server) server->tick();
    for (const auto& client : clients) client->tick();
  }

  void spoil() {
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

void Store::take(const Write& write) {
  const bool dead =
      dead_.contains({write.epoch, write.session}) || (only_epoch_ && write.epoch != *only_epoch_);
  if (world_.weather.fences && dead) {
    ++world_.score.refused;
    return;
  }
  ++world_.score.written;
  if (!world_.server) return;
  const LockServer& server = world_.server->server();
  server.for_each(world_.now_ns(), [&](const LockServer::View& other) {
    // A lock that was reclaimed has a new session, and is still its client's.
    const bool own = write.client == other.client && write.sequence == other.sequence;
    if (own || other.state != LockState::kHeld) return;
    if (!conflict(other.claim->mode, write.claim.mode)) return;
    if (pattern::overlaps(other.claim->bytes, write.claim.bytes).value()) {
      ++world_.score.violations;
    }
  });
}

LockServerSettings settings_of(const Weather& weather, bool restarted) {
  LockServerSettings settings;
  settings.lease_ns = kLeaseNs;
  settings.grace_ns = weather.grace ? kGraceNs : 1;
  settings.restarted = restarted && weather.grace;
  return settings;
}

ServerNode::ServerNode(World& of, bool restarted)
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

void ServerNode::take(const port::Event& event) {
  const auto peer = static_cast<LockServer::Peer>(event.connection);
  if (event.kind == port::Event::Kind::kClosed) server_.disconnect(peer);
  if (event.kind != port::Event::Kind::kFrame) return;
  if (!server_.receive(peer, event.frame, world_.now_ns())) {
    server_.disconnect(peer);
    endpoint_->close(event.connection);
  }
}

void ServerNode::begin(uint64_t epoch, SessionId session) {
  const auto later = [&] { return world_.now_ns() + world_.between(1, 30 * kMs); };
  World& of = world_;
  const std::weak_ptr<bool> alive = alive_;
  world_.clock.set_timer(later(), [&of, alive, epoch, session, this] {
    of.store.refuse(epoch, session);
    of.clock.set_timer(of.now_ns() + of.between(1, 30 * kMs), [alive, session, this] {
      if (!alive.expired()) server_.fenced(session);
    });
  });
}

void ServerNode::begin_epoch(uint64_t epoch) {
  World& of = world_;
  const std::weak_ptr<bool> alive = alive_;
  world_.clock.set_timer(of.now_ns() + of.between(1, 30 * kMs), [&of, alive, epoch, this] {
    if (alive.expired()) return;
    of.store.refuse_others(epoch);
    server_.epoch_fenced();
  });
}

void ServerNode::tick() {
  server_.advance(world_.now_ns());
  server_.check_invariants();
}

ClientNode::ClientNode(World& of, int which)
    : world(of),
      name_("client " + std::to_string(which) + ", life " + std::to_string(++of.lives)),
      endpoint_(of.network.endpoint("client" + std::to_string(which))),
      client_(name_, [this](const base::Bytes& frame) {
        if (connection_) static_cast<void>(endpoint_->send(*connection_, frame));
      }) {
  endpoint_->on_event([this](const port::Event& event) { unseen_.push_back(event); });
}

void ClientNode::connect() {
  if (connection_) endpoint_->close(*connection_);
  client_.disconnected();
  connection_.reset();
  connect_at_ns_ = world.now_ns() + world.between(1, 50 * kMs);
}

void ClientNode::take(const port::Event& event) {
  if (!connection_ || event.connection != *connection_) return;
  switch (event.kind) {
    case port::Event::Kind::kConnected:
      client_.connected(world.now_ns());
      break;
    case port::Event::Kind::kFrame:
      // What is repeated or out of order may make no sense; then another connection will.
      if (!client_.receive(event.frame, world.now_ns())) connect();
      break;
    case port::Event::Kind::kClosed:
      connection_.reset();
      connect();
      break;
  }
}

void ClientNode::take_event(const LockClient::Event& event) {
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

void ClientNode::ask() {
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

void ClientNode::begin_write() {
  writing_ = true;
  write_at_ns_ = world.now_ns() + world.between(0, kWriteNsMax - 2 * kTickNs);
}

// The last look at the lease and the write itself are one step of the program; whoever is frozen is
// so before, or between the two, where the write is late.
void ClientNode::end_write() {
  writing_ = false;
  if (!lock_) return;
  const bool safe = client_.holds(lock_->sequence, world.now_ns(), kWriteNsMax);
  if (safe || !world.weather.checks_lease) {
    const bool late = world.weather.freezes && world.random.chance(1, 10);
    const int64_t usual_ns = world.weather.checks_lease ? kWriteNsMax - kTickNs : kLeaseNs;
    const int64_t delay_ns = world.between(1, late ? 3 * kLeaseNs : usual_ns);
    World& of = world;
    const Store::Write write = {client_.epoch(), client_.session(), name_, lock_->sequence,
                                lock_->claim};
    world.clock.set_timer(world.now_ns() + delay_ns, [&of, write] { of.store.take(write); });
    // A frozen client releases nothing meanwhile.
    if (late) freeze(world.now_ns() + delay_ns + kTickNs);
    write_at_ns_ = world.now_ns() + delay_ns + kTickNs;
  }
}

void ClientNode::keep_or_release() {
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

void ClientNode::tick() {
  const int64_t now_ns = world.now_ns();
  if (now_ns < frozen_until_ns_) return;
  while (!unseen_.empty()) {
    const port::Event event = std::move(unseen_.front());
    unseen_.pop_front();
    take(event);
  }
  client_.advance(now_ns);
  if (client_.is_stalled(now_ns)) connect();
  if (!connection_ && now_ns >= connect_at_ns_) {
    const auto made = endpoint_->connect("locks");
    if (made) connection_ = *made;
    if (!made) connect_at_ns_ = now_ns + 50 * kMs;
  }
  for (const auto& event : client_.take_events()) take_event(event);
  if (writing_ && now_ns >= write_at_ns_) end_write();
  if (lock_ && !writing_ && now_ns >= write_at_ns_ && client_.holds(lock_->sequence, now_ns)) {
    keep_or_release();
  }
  if (!lock_ && !world.calm && world.random.chance(1, 5)) ask();
}

// Many worlds; their scores added up, and whether everybody was served in all of them.
Score run_worlds(const Weather& weather, int worlds) {
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
    sum.granted += score.granted;
    sum.lost += score.lost;
    sum.reused += score.reused;
    sum.recalled += score.recalled;
    sum.wait_ns_max = std::max(sum.wait_ns_max, score.wait_ns_max);
  }
  return sum;
}

TEST(LockWorld, NobodyWritesUnderTheLockOfAnother) {
  const int worlds = pattern::model::rounds(60);
  const Score score = run_worlds({}, worlds);
  EXPECT_EQ(score.violations, 0);
  EXPECT_GT(score.written, 10 * worlds);
  EXPECT_GT(score.refused, 0);
  EXPECT_GT(score.lost, 0);
  EXPECT_GT(score.reused, worlds);
  EXPECT_GT(score.recalled, worlds);
}

// Nobody dies, freezes or is cut off; only frames are lost, or not even those.
Weather fair_weather() {
  Weather weather;
  weather.freezes = weather.deaths = weather.cuts = weather.restarts = false;
  return weather;
}

// (S5): behind at most three others, each of which writes at most once more.
TEST(LockWorld, WhoWaitsForALockThatIsKeptWaitsNotLong) {
  Weather weather = fair_weather();
  weather.loses_frames = false;
  const Score smooth = run_worlds(weather, pattern::model::rounds(30));
  EXPECT_GT(smooth.recalled, 0);
  EXPECT_EQ(smooth.lost, 0);
  EXPECT_LT(smooth.wait_ns_max, 3 * (2 * kWriteNsMax + 6 * kTickNs));
  // A frame that is lost costs a renewal.
  weather.loses_frames = true;
  EXPECT_LT(run_worlds(weather, pattern::model::rounds(30)).wait_ns_max, 5 * kLeaseNs);
}

TEST(LockWorld, ControlWithoutRecallsSomebodyWaitsForEver) {
  Weather weather = fair_weather();
  weather.recalls = false;
  EXPECT_FALSE(run_worlds(weather, 3).all_served);
}

TEST(LockWorld, ControlWhoIgnoresRecallsLetsOthersWaitForEver) {
  Weather weather = fair_weather();
  weather.heeds = false;
  EXPECT_FALSE(run_worlds(weather, 3).all_served);
}

// Without fences the lease alone must do; it does as long as nobody is frozen.
TEST(LockWorld, LeasesAreEnoughWhereNobodyFreezes) {
  Weather weather;
  weather.freezes = false;
  weather.fences = false;
  const Score score = run_worlds(weather, pattern::model::rounds(60));
  EXPECT_EQ(score.violations, 0);
  EXPECT_GT(score.written, 0);
}

TEST(LockWorld, ControlWithoutFencesLateWritesGetThrough) {
  Weather weather;
  weather.fences = false;
  EXPECT_GT(run_worlds(weather, 30).violations, 0);
}

TEST(LockWorld, ControlWithoutGraceARestartForgetsWhoHasWhat) {
  Weather weather;
  weather.freezes = weather.deaths = weather.cuts = false;
  weather.grace = false;
  weather.fences = false;
  EXPECT_GT(run_worlds(weather, 60).violations, 0);
}

TEST(LockWorld, ControlWithoutALookAtTheLeaseWritesComeLate) {
  Weather weather;
  weather.freezes = false;
  weather.fences = false;
  weather.checks_lease = false;
  EXPECT_GT(run_worlds(weather, 200).violations, 0);
}

TEST(LockWorld, TheSameSeedIsTheSameWorld) {
  const auto digest = [](uint64_t seed) {
    World world({}, seed);
    static_cast<void>(world.run(5 * kLeaseNs));
    return world.network.trace_digest();
  };
  EXPECT_EQ(digest(7), digest(7));
  EXPECT_NE(digest(7), digest(8));
}

}  // namespace
}  // namespace tessera::lock
