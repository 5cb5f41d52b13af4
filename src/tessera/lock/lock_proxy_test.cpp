// The proxy of a node, step by step: a server, two proxies and their processes, on a network that
// loses nothing and takes no time.
#include "tessera/lock/lock_proxy.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "tessera/port/seeded_random.hpp"

namespace tessera::lock {
namespace {

using Kind = LockClient::Event::Kind;
using Kinds = std::vector<Kind>;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLeaseNs = 3000 * kMs;
constexpr int64_t kLocalLeaseNs = kLeaseNs / 3;
constexpr size_t kNodes = 2;

class LockProxyTest : public ::testing::Test {
 protected:
  LockProxyTest() {
    start_server(false);
    for (size_t node = 0; node < kNodes; ++node) start_proxy(node);
    settle();
  }

  void start_server(bool restarted) {
    LockServerSettings settings;
    settings.lease_ns = settings.grace_ns = kLeaseNs;
    settings.restarted = restarted;
    server_ = std::make_unique<LockServer>(
        settings, random_, nullptr, [this](LockServer::Peer peer, const base::Bytes& frame) {
          post([this, peer, frame] {
            if (cut_) return;
            EXPECT_TRUE(proxies_[peer]->receive_up(frame, now_ns_));
          });
        });
    server_->start(now_ns_);
  }

  // Also in the place of one that has died.
  void start_proxy(size_t node) {
    server_->disconnect(node);
    LockProxy::Links links;
    links.send = [this](LockProxy::Peer peer, const base::Bytes& frame) {
      post([this, peer, frame] { EXPECT_TRUE(clients_.at(peer)->receive(frame, now_ns_)); });
    };
    links.close = [this](LockProxy::Peer peer) {
      post([this, peer] {
        clients_.at(peer)->disconnected();
        clients_.at(peer)->connected(now_ns_);
      });
    };
    links.send_up = [this, node](const base::Bytes& frame) {
      post([this, node, frame] {
        if (cut_) return;
        const auto message = decode(frame);
        if (!std::holds_alternative<Renew>(*message)) ++sent_up_;
        EXPECT_TRUE(server_->receive(node, frame, now_ns_));
      });
    };
    proxies_[node] = std::make_unique<LockProxy>("proxy", LockProxySettings{}, random_, nullptr,
                                                 std::move(links));
    proxies_[node]->connected_up(now_ns_);
  }

  // Processes of a node have its number and multiples of 10 added to it.
  LockClient& client(LockProxy::Peer peer) {
    if (!clients_.contains(peer)) {
      clients_[peer] =
          std::make_unique<LockClient>("process", [this, peer](const base::Bytes& frame) {
            post([this, peer, frame] {
              LockProxy& proxy = *proxies_[peer % 10];
              if (dead_.contains(peer)) return;
              EXPECT_TRUE(proxy.receive(peer, frame, now_ns_));
            });
          });
      clients_[peer]->connected(now_ns_);
    }
    return *clients_.at(peer);
  }

  struct How {
    bool recallable = false;
    int64_t wait_ns = -1;
  };
  Sequence ask(LockProxy::Peer peer, int64_t begin, int64_t end, How how) {
    const Sequence sequence =
        client(peer).acquire({.file = "file",
                              .claim = {pattern::ByteSet::of({begin, end}).value()},
                              .wait_ns = how.wait_ns,
                              .recallable = how.recallable},
                             now_ns_);
    settle();
    return sequence;
  }
  Sequence ask(LockProxy::Peer peer, int64_t begin, int64_t end) {
    return ask(peer, begin, end, How{});
  }
  void release(LockProxy::Peer peer, Sequence sequence) {
    client(peer).release(sequence, now_ns_);
    settle();
  }
  bool holds(LockProxy::Peer peer, Sequence sequence) {
    return client(peer).holds(sequence, now_ns_);
  }
  Kinds events(LockProxy::Peer peer) {
    Kinds kinds;
    for (const auto& event : client(peer).take_events()) kinds.push_back(event.kind);
    return kinds;
  }

  void post(std::function<void()> frame) { frames_.push_back(std::move(frame)); }
  void settle() {
    while (!frames_.empty()) {
      const auto frame = std::move(frames_.front());
      frames_.pop_front();
      frame();
    }
    for (const auto& [node, proxy] : proxies_) proxy->check_invariants(now_ns_);
    server_->check_invariants();
  }
  void pass(int64_t by_ns) {
    constexpr int64_t kStepNs = 10 * kMs;
    const int64_t end_ns = now_ns_ + by_ns;
    while (now_ns_ < end_ns) {
      now_ns_ = std::min(end_ns, now_ns_ + kStepNs);
      for (const auto& [peer, process] : clients_) {
        if (!dead_.contains(peer)) process->advance(now_ns_);
      }
      for (const auto& [node, proxy] : proxies_) proxy->advance(now_ns_);
      server_->advance(now_ns_);
      settle();
      reconnect();
    }
  }
  void reconnect() {
    for (const auto& [peer, process] : clients_) {
      if (dead_.contains(peer) || !process->is_stalled(now_ns_)) continue;
      proxies_[peer % 10]->disconnect(peer);
      process->disconnected();
      process->connected(now_ns_);
    }
    for (const auto& [node, proxy] : proxies_) {
      if (cut_ || !proxy->is_stalled_up(now_ns_)) continue;
      server_->disconnect(node);
      proxy->disconnected_up();
      proxy->connected_up(now_ns_);
    }
    settle();
  }

  port::SeededRandom random_{1};
  int64_t now_ns_ = 1;
  bool cut_ = false;         // between proxies and the server
  std::set<uint64_t> dead_;  // processes
  uint64_t sent_up_ = 0;     // frames of proxies, without signs of life
  std::deque<std::function<void()>> frames_;
  std::unique_ptr<LockServer> server_;
  std::map<size_t, std::unique_ptr<LockProxy>> proxies_;
  std::map<uint64_t, std::unique_ptr<LockClient>> clients_;
};

TEST_F(LockProxyTest, Y4UnderADelegationTheServerHearsNothing) {
  release(10, ask(10, 0, 10));
  EXPECT_EQ(proxies_[0]->counts().delegations, 1U);
  sent_up_ = 0;
  for (int i = 0; i < 1000; ++i) {
    const LockProxy::Peer peer = i % 2 == 0 ? 10 : 20;
    const Sequence sequence = ask(peer, i, i + 10);
    ASSERT_TRUE(holds(peer, sequence));
    release(peer, sequence);
    if (i % 10 == 0) pass(10 * kMs);
  }
  EXPECT_EQ(sent_up_, 0U);
  EXPECT_EQ(server_->requests(), 1U);
}

TEST_F(LockProxyTest, WhatConflictsOnTheNodeWaitsThere) {
  const Sequence first = ask(10, 0, 10);
  const Sequence second = ask(20, 5, 15);
  EXPECT_TRUE(holds(10, first));
  EXPECT_FALSE(holds(20, second));
  release(10, first);
  EXPECT_TRUE(holds(20, second));
}

TEST_F(LockProxyTest, Y3ADelegationGoesBackWhenNothingIsHeldUnderIt) {
  const Sequence first = ask(10, 0, 10);
  const Sequence kept = ask(20, 20, 30, {.recallable = true});
  EXPECT_EQ(events(20), Kinds{Kind::kGranted});
  const Sequence other = ask(11, 100, 110);
  EXPECT_FALSE(holds(11, other));
  // Locks that are kept are recalled; nothing new is granted; who may not wait is told so.
  EXPECT_EQ(events(20), Kinds{Kind::kRecalled});
  const Sequence late = ask(30, 50, 60);
  EXPECT_FALSE(holds(30, late));
  static_cast<void>(ask(30, 70, 80, {.wait_ns = 0}));
  EXPECT_EQ(events(30), Kinds{Kind::kRefused});
  release(20, kept);
  EXPECT_FALSE(holds(11, other));
  release(10, first);
  EXPECT_TRUE(holds(11, other));
  EXPECT_TRUE(holds(30, late));
  EXPECT_EQ(proxies_[0]->counts().recalled, 1U);
}

TEST_F(LockProxyTest, DisjointAccessesOfTwoNodesDoNotWait) {
  const Sequence first = ask(10, 0, 10);
  static_cast<void>(ask(11, 500, 510));
  release(10, first);
  for (int64_t i = 0; i < 20; ++i) {
    const Sequence here = ask(10, 20 * i, 20 * i + 10);
    const Sequence there = ask(11, 20 * i + 10, 20 * i + 20);
    EXPECT_TRUE(holds(10, here) && holds(11, there));
    // And the others do.
    const Sequence both = ask(20, 20 * i + 5, 20 * i + 15);
    EXPECT_FALSE(holds(20, both));
    release(11, there);
    EXPECT_FALSE(holds(20, both));
    release(10, here);
    EXPECT_TRUE(holds(20, both));
    release(20, both);
  }
}

TEST_F(LockProxyTest, WhoMayNotWaitIsRefusedByTheServer) {
  release(10, ask(10, 0, 10));
  const Sequence there = ask(11, 0, 10);
  EXPECT_TRUE(holds(11, there));
  static_cast<void>(events(10));
  static_cast<void>(ask(10, 0, 10, {.wait_ns = 0}));
  EXPECT_EQ(events(10), Kinds{Kind::kRefused});
  static_cast<void>(ask(10, 50, 60, {.wait_ns = 0}));
  EXPECT_EQ(events(10), Kinds{Kind::kGranted});
  static_cast<void>(ask(20, 5, 15, {.wait_ns = 100 * kMs}));
  pass(200 * kMs);
  EXPECT_EQ(events(20), Kinds{Kind::kRefused});
}

TEST_F(LockProxyTest, ALockThatIsKeptIsRecalledAcrossNodes) {
  release(10, ask(10, 0, 10));
  release(11, ask(11, 0, 10));
  const Sequence kept = ask(10, 0, 10, {.recallable = true});
  EXPECT_TRUE(holds(10, kept));
  static_cast<void>(events(10));
  const Sequence other = ask(11, 5, 6);
  EXPECT_EQ(events(10), Kinds{Kind::kRecalled});
  release(10, kept);
  EXPECT_TRUE(holds(11, other));
}

TEST_F(LockProxyTest, AfterAWhileWithoutOthersItTriesAgain) {
  release(10, ask(10, 0, 10));
  release(11, ask(11, 0, 10));
  release(10, ask(10, 0, 10));
  EXPECT_EQ(proxies_[0]->counts().delegations, 1U);
  EXPECT_EQ(proxies_[0]->counts().passed, 1U);
  pass(1000 * kMs);
  release(10, ask(10, 0, 10));
  EXPECT_EQ(proxies_[0]->counts().delegations, 2U);
}

TEST_F(LockProxyTest, ADelegationThatNobodyUsesIsGivenBack) {
  release(10, ask(10, 0, 10));
  pass(9000 * kMs);
  EXPECT_EQ(server_->requests(), 1U);
  pass(3000 * kMs);
  EXPECT_EQ(server_->requests(), 0U);
  EXPECT_TRUE(holds(10, ask(10, 0, 10)));
}

TEST_F(LockProxyTest, TheLocksOfAProcessThatDiesAreFreeAfterItsLease) {
  release(11, ask(11, 0, 10));
  const Sequence doomed = ask(10, 0, 10);
  EXPECT_TRUE(holds(10, doomed));
  const Sequence other = ask(11, 0, 10);
  dead_.insert(10);
  proxies_[0]->disconnect(10);
  pass(kLocalLeaseNs - 10 * kMs);
  EXPECT_FALSE(holds(11, other));
  pass(20 * kMs);
  EXPECT_TRUE(holds(11, other));
}

// (Y2): nobody hears of the server, and everybody has given up before it does.
TEST_F(LockProxyTest, Y2ProcessesGiveUpBeforeTheServerDoes) {
  const Sequence held = ask(10, 0, 10);
  pass(500 * kMs);
  static_cast<void>(events(10));
  cut_ = true;
  pass(kLeaseNs - 510 * kMs);
  EXPECT_FALSE(holds(10, held));
  EXPECT_EQ(events(10), Kinds{Kind::kLost});
  EXPECT_EQ(server_->requests(), 1U);
  pass(1020 * kMs);
  EXPECT_EQ(server_->requests(), 0U);
}

TEST_F(LockProxyTest, Y2NobodyIsGrantedWhatMayBeOverSoon) {
  release(10, ask(10, 0, 10));
  static_cast<void>(events(10));
  cut_ = true;
  pass(kLeaseNs - kLocalLeaseNs + 10 * kMs);
  const Sequence late = ask(10, 0, 10);
  EXPECT_EQ(events(10), Kinds());
  cut_ = false;
  pass(kLeaseNs / 3);
  EXPECT_TRUE(holds(10, late));
}

TEST_F(LockProxyTest, Y5AnotherSessionUpstreamIsTold) {
  const Sequence held = ask(10, 0, 10);
  const Identity before = client(10).standing(held).via;
  EXPECT_NE(before.session, 0U);
  // The server is restarted; what was held is reclaimed, through the proxy.
  start_server(true);
  for (size_t node = 0; node < kNodes; ++node) {
    proxies_[node]->disconnected_up();
    proxies_[node]->connected_up(now_ns_);
  }
  settle();
  EXPECT_TRUE(holds(10, held));
  EXPECT_EQ(server_->counts().reclaimed, 1U);
  EXPECT_EQ(client(10).standing(held).via.epoch, server_->epoch());
  EXPECT_NE(client(10).standing(held).via.epoch, before.epoch);
}

TEST_F(LockProxyTest, WhatAProxyHadThatDiedIsLost) {
  const Sequence held = ask(10, 0, 10);
  EXPECT_TRUE(holds(10, held));
  static_cast<void>(events(10));
  start_proxy(0);
  settle();
  client(10).disconnected();
  client(10).connected(now_ns_);
  settle();
  EXPECT_EQ(events(10), Kinds{Kind::kLost});
  // Its bytes are free when the lease of the dead one is over.
  const Sequence again = ask(10, 0, 10);
  EXPECT_FALSE(holds(10, again));
  pass(kLeaseNs);
  EXPECT_TRUE(holds(10, again));
}

TEST_F(LockProxyTest, NothingIsServedBeforeTheServerWasReached) {
  LockProxy proxy("proxy", {}, random_, nullptr,
                  {[](LockProxy::Peer, const base::Bytes&) {}, [](LockProxy::Peer) {},
                   [](const base::Bytes&) {}});
  const auto taken = proxy.receive(1, encode(Hello{.client = "process"}), now_ns_);
  EXPECT_EQ(taken.error().code, base::Code::kRetry);
  EXPECT_EQ(proxy.server(), nullptr);
}

}  // namespace
}  // namespace tessera::lock
