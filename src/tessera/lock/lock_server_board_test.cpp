// A server and its clients with a claim board, joined by function calls.
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "tessera/lock/lock_client.hpp"
#include "tessera/lock/lock_server.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/port/seeded_random.hpp"

namespace tessera::lock {
namespace {

using Kind = LockClient::Event::Kind;
using Peer = LockServer::Peer;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLeaseNs = 1000 * kMs;

LockServerSettings settings() {
  LockServerSettings settings;
  settings.lease_ns = settings.grace_ns = kLeaseNs;
  return settings;
}

class LockServerBoardTest : public ::testing::Test {
 protected:
  struct Client {
    Client(LockServerBoardTest& test, Peer peer)
        : client("client " + std::to_string(peer), [&test, peer](const base::Bytes& frame) {
            ++test.messages_;
            test.to_server_.emplace_back(peer, frame);
          }) {
      client.use_boards([&test, peer](const BoardAt& place) {
        EXPECT_EQ(place.token, test.place_.token);
        return std::make_unique<BoardSeat>(*test.memory_, static_cast<size_t>(peer), nullptr);
      });
    }
    LockClient client;
  };

  LockServerBoardTest() {
    server_.use_board(board_, place_);
    server_.start(0);
    server_.open_board(0);
    for (Peer peer = 0; peer < 3; ++peer) {
      clients_.push_back(std::make_unique<Client>(*this, peer));
      client(peer).connected(now_ns_);
    }
    settle();
    messages_ = 0;
  }

  LockClient& client(Peer peer) { return clients_[peer]->client; }
  // Hands over all frames.
  void settle() {
    while (!to_server_.empty() || !to_clients_.empty()) {
      auto& queue = to_server_.empty() ? to_clients_ : to_server_;
      const auto [peer, frame] = std::move(queue.front());
      const bool to_server = &queue == &to_server_;
      queue.pop_front();
      EXPECT_TRUE(to_server ? server_.receive(peer, frame, now_ns_)
                            : client(peer).receive(frame, now_ns_));
    }
    server_.check_invariants();
  }
  // Lets time pass; who is silent says nothing meanwhile.
  void pass(int64_t ns, std::optional<Peer> silent = {}) {
    for (const int64_t end_ns = now_ns_ + ns; now_ns_ < end_ns;) {
      now_ns_ += 10 * kMs;
      for (Peer peer = 0; peer < clients_.size(); ++peer) {
        if (peer != silent) client(peer).advance(now_ns_);
      }
      settle();
      server_.advance(now_ns_);
      server_.open_board(now_ns_);
      settle();
    }
  }
  Sequence ask(Peer peer, int64_t begin, int64_t end, bool recallable = false) {
    const Sequence sequence =
        client(peer).acquire({.file = "f",
                              .claim = {pattern::ByteSet::of({begin, end}).value()},
                              .recallable = recallable},
                             now_ns_);
    settle();
    return sequence;
  }
  void release(Peer peer, Sequence sequence) {
    client(peer).release(sequence, now_ns_);
    settle();
  }
  bool holds(Peer peer, Sequence sequence) { return client(peer).holds(sequence, now_ns_); }
  size_t in_table() { return server_.requests(); }

  int64_t now_ns_ = 0;
  int messages_ = 0;  // of clients
  const std::unique_ptr<BoardMemory> memory_ = std::make_unique<BoardMemory>();
  const BoardAt place_ = {.file = "f", .token = 5};
  BoardKeeper board_{*memory_, place_.token};
  port::SeededRandom random_{1};
  LockServer server_{settings(), random_, nullptr, [this](Peer peer, const base::Bytes& frame) {
                       to_clients_.emplace_back(peer, frame);
                     }};
  std::deque<std::pair<Peer, base::Bytes>> to_server_;
  std::deque<std::pair<Peer, base::Bytes>> to_clients_;
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(LockServerBoardTest, ALockThatNobodyElseWantsCostsNoMessage) {
  for (int i = 0; i < 1000; ++i) {
    const Sequence mine = ask(0, 0, 10);
    const Sequence theirs = ask(1, 10, 20);
    ASSERT_TRUE(holds(0, mine) && holds(1, theirs));
    ASSERT_EQ(client(0).take_events().size(), 1U);
    ASSERT_TRUE(client(0).holds_undisturbed(mine, now_ns_));
    release(0, mine);
    release(1, theirs);
  }
  EXPECT_EQ(messages_, 0);
  EXPECT_EQ(server_.counts().claimed, 2000U);
  EXPECT_EQ(server_.counts().granted, 0U);
}

// (S7)
TEST_F(LockServerBoardTest, WhoConflictsWaitsUntilTheClaimIsReleased) {
  const Sequence held = ask(0, 0, 10);
  const Sequence apart = ask(2, 50, 60);
  const Sequence waiting = ask(1, 5, 15);
  EXPECT_FALSE(holds(1, waiting));
  EXPECT_FALSE(server_.board_is_open());
  EXPECT_EQ(in_table(), 3U);
  EXPECT_TRUE(holds(0, held) && !client(0).holds_undisturbed(held, now_ns_));
  // Named by signs of life, what was found on the board stays.
  pass(3 * kLeaseNs);
  EXPECT_FALSE(holds(1, waiting));
  EXPECT_TRUE(holds(0, held) && holds(2, apart));
  release(0, held);
  EXPECT_TRUE(holds(1, waiting));
  // Opened again, all that is held stands on the board, and what the server granted is released by
  // a message.
  pass(200 * kMs);
  EXPECT_TRUE(server_.board_is_open());
  const Sequence again = ask(0, 20, 30);
  EXPECT_TRUE(client(0).holds_undisturbed(again, now_ns_));
  release(1, waiting);
  release(2, apart);
  EXPECT_EQ(in_table(), 0U);
  EXPECT_TRUE(client(1).holds_undisturbed(ask(1, 50, 60), now_ns_));
}

TEST_F(LockServerBoardTest, WhatTheServerGrantsStandsOnTheBoard) {
  const Sequence kept = ask(0, 0, 10, true);
  EXPECT_TRUE(holds(0, kept) && server_.board_is_open());
  EXPECT_EQ(in_table(), 1U);
  const Sequence waiting = ask(1, 9, 11);
  EXPECT_FALSE(holds(1, waiting));
  bool recalled = false;
  for (const auto& event : client(0).take_events()) recalled |= event.kind == Kind::kRecalled;
  EXPECT_TRUE(recalled);
  release(0, kept);
  EXPECT_TRUE(holds(1, waiting));
}

TEST_F(LockServerBoardTest, WhoFallsSilentLosesItsClaims) {
  const Sequence held = ask(0, 0, 10);
  const Sequence waiting = ask(1, 0, 10);
  const int64_t begin_ns = now_ns_;
  while (!holds(1, waiting) && now_ns_ < begin_ns + 5 * kLeaseNs) pass(10 * kMs, 0);
  EXPECT_LE(now_ns_, begin_ns + kLeaseNs + 50 * kMs);
  EXPECT_FALSE(holds(0, held));
  client(0).advance(now_ns_);
  bool lost = false;
  for (const auto& event : client(0).take_events()) lost |= event.kind == Kind::kLost;
  EXPECT_TRUE(lost);
}

// (C5): nothing is claimed in a session that may be over.
TEST_F(LockServerBoardTest, NobodyClaimsWithoutALease) {
  pass(kLeaseNs * 9 / 10, 0);
  const int before = messages_;
  const Sequence asked = ask(0, 0, 10);
  EXPECT_TRUE(holds(0, asked));
  EXPECT_GT(messages_, before);
  EXPECT_EQ(server_.counts().claimed, 0U);
}

TEST_F(LockServerBoardTest, BetweenClaimsTheSessionLives) {
  for (int i = 0; i < 100; ++i) {
    const Sequence sequence = ask(0, 0, 10);
    ASSERT_TRUE(client(0).holds_undisturbed(sequence, now_ns_));
    release(0, sequence);
    pass(kLeaseNs / 5);
  }
  // Two signs of life in a lease, or three.
  EXPECT_LE(messages_, 3 * 20 + 3);
  // Who claims no more is forgotten in time.
  pass(3 * kLeaseNs);
  EXPECT_EQ(server_.sessions(), 0U);
}

TEST_F(LockServerBoardTest, AClaimCanBeBroken) {
  const Sequence held = ask(0, 0, 10);
  const Sequence other = ask(1, 20, 30);
  EXPECT_TRUE(server_.break_lock(client(0).identity().session, held));
  settle();
  EXPECT_FALSE(holds(0, held));
  EXPECT_TRUE(holds(1, other));
  EXPECT_FALSE(server_.break_lock(client(0).identity().session, held));
}

TEST_F(LockServerBoardTest, ClaimsOutliveAConnection) {
  const Sequence held = ask(0, 0, 10);
  server_.disconnect(0);
  client(0).disconnected();
  client(0).connected(now_ns_);
  settle();
  EXPECT_TRUE(holds(0, held));
  EXPECT_EQ(in_table(), 1U);
  release(0, held);
  EXPECT_EQ(in_table(), 0U);
}

// A claim that two see at once: the client as not granted, since the board was closed meanwhile,
// the server as held. The request that follows has the same number.
TEST_F(LockServerBoardTest, WhatTheServerHasFoundItGrantsToWhoAsks) {
  BoardSeat seat(*memory_, 9, nullptr);
  const Claim claim = {pattern::ByteSet::of({0, 10}).value()};
  ASSERT_TRUE(seat.claim(
      {client(0).identity().session, 1, Mode::kExclusive, pattern::encode(claim.bytes.ascending())},
      claim));
  server_.close_board(now_ns_);
  const Sequence asked = ask(0, 0, 10);
  EXPECT_EQ(asked, 1U);
  EXPECT_TRUE(holds(0, asked));
  EXPECT_EQ(in_table(), 1U);
  release(0, asked);
  EXPECT_EQ(in_table(), 0U);
}

TEST_F(LockServerBoardTest, LeavingTakesAllClaimsOff) {
  const Sequence held = ask(0, 0, 10);
  EXPECT_TRUE(holds(0, held));
  client(0).leave();
  settle();
  EXPECT_TRUE(client(1).holds_undisturbed(ask(1, 0, 10), now_ns_));
}

}  // namespace
}  // namespace tessera::lock
