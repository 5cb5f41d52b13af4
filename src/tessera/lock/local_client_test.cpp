#include "tessera/lock/local_client.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "tessera/port/seeded_random.hpp"

namespace tessera::lock {
namespace {

using Kind = LockClient::Event::Kind;
constexpr int64_t kSecond = 1'000'000'000;

class LocalClientTest : public ::testing::Test {
 protected:
  void start(const LockServerSettings& settings) {
    server_ = std::make_unique<LockServer>(settings, random_, nullptr,
                                           [this](LockServer::Peer peer, base::Bytes frame) {
                                             if (clients_.contains(peer))
                                               clients_.at(peer)->deliver(std::move(frame));
                                           });
    server_->start(now_ns_);
    for (const LockServer::Peer peer : {1U, 2U}) {
      clients_[peer] = std::make_unique<LocalClient>(*server_, peer, "local");
    }
  }
  LocalClient& client(LockServer::Peer peer) { return *clients_.at(peer); }

  Sequence ask(LockServer::Peer peer, int64_t begin, int64_t end, bool recallable = false) {
    LockClient::Asked asked = {.file = "file",
                               .claim = {pattern::ByteSet::of({begin, end}).value()}};
    asked.recallable = recallable;
    return client(peer).acquire(asked, now_ns_);
  }
  // What has happened to a client, as kinds.
  std::vector<Kind> events(LockServer::Peer peer) {
    std::vector<Kind> kinds;
    for (const auto& event : client(peer).take_events(now_ns_)) kinds.push_back(event.kind);
    server_->check_invariants();
    return kinds;
  }

  port::SeededRandom random_{1};
  int64_t now_ns_ = 1;
  std::unique_ptr<LockServer> server_;
  std::map<LockServer::Peer, std::unique_ptr<LocalClient>> clients_;
};

TEST_F(LocalClientTest, P2LocksAreThereAtOnce) {
  start({});
  const Sequence first = ask(1, 0, 10);
  EXPECT_TRUE(client(1).holds(first, now_ns_));
  EXPECT_EQ(events(1), std::vector{Kind::kGranted});
  const Sequence second = ask(2, 5, 15);
  EXPECT_FALSE(client(2).holds(second, now_ns_));
  EXPECT_EQ(server_->requests(), 2U);
  client(1).release(first, now_ns_);
  EXPECT_EQ(server_->requests(), 1U);
  EXPECT_EQ(events(2), std::vector{Kind::kGranted});
}

TEST_F(LocalClientTest, P3WhatOthersCauseIsDueAtOnce) {
  start({});
  const Sequence kept = ask(1, 0, 10, true);
  EXPECT_EQ(events(1), std::vector{Kind::kGranted});
  EXPECT_GT(client(1).next_due_ns(), now_ns_);
  static_cast<void>(ask(2, 0, 1));
  EXPECT_LE(client(1).next_due_ns(), now_ns_);
  EXPECT_EQ(events(1), std::vector{Kind::kRecalled});
  EXPECT_TRUE(client(1).holds(kept, now_ns_));
  client(1).release(kept, now_ns_);
  EXPECT_EQ(events(2), std::vector{Kind::kGranted});
}

TEST_F(LocalClientTest, ALeaseIsKeptByAdvance) {
  start({.lease_ns = kSecond});
  const Sequence kept = ask(1, 0, 10);
  EXPECT_EQ(events(1), std::vector{Kind::kGranted});
  for (int i = 0; i < 50; ++i) {
    now_ns_ = *client(1).next_due_ns();
    client(1).advance(now_ns_);
    server_->advance(now_ns_);
  }
  EXPECT_GT(now_ns_, 10 * kSecond);
  EXPECT_TRUE(client(1).holds(kept, now_ns_));
  EXPECT_EQ(events(1), std::vector<Kind>());
}

// A process that was stopped for long finds its lease over, on both sides, and begins anew.
TEST_F(LocalClientTest, AfterALeaseThatWasOverItBeginsAnew) {
  start({.lease_ns = kSecond});
  static_cast<void>(ask(1, 0, 10));
  EXPECT_EQ(events(1), std::vector{Kind::kGranted});
  now_ns_ += 3 * kSecond;
  client(1).advance(now_ns_);
  server_->advance(now_ns_);
  EXPECT_EQ(events(1), std::vector{Kind::kLost});
  const Sequence again = ask(1, 0, 10);
  EXPECT_EQ(events(1), std::vector{Kind::kGranted});
  EXPECT_TRUE(client(1).holds(again, now_ns_));
}

// A session without locks is forgotten, and nobody notices.
TEST_F(LocalClientTest, P2AlsoAfterLongSilence) {
  start({.lease_ns = kSecond});
  client(1).release(ask(1, 0, 10), now_ns_);
  EXPECT_EQ(events(1), std::vector{Kind::kGranted});
  now_ns_ += 3 * kSecond;
  server_->advance(now_ns_);
  EXPECT_EQ(server_->sessions(), 0U);
  EXPECT_TRUE(client(1).holds(ask(1, 0, 10), now_ns_));
  EXPECT_EQ(events(1), std::vector{Kind::kGranted});
}

TEST_F(LocalClientTest, WhereThereIsNoRoomItAsksAgain) {
  start({.lease_ns = kSecond, .sessions_max = 1});
  const Sequence first = ask(1, 0, 10);
  EXPECT_EQ(events(1), std::vector{Kind::kGranted});
  static_cast<void>(ask(2, 50, 60));
  EXPECT_EQ(events(2), std::vector<Kind>());
  client(1).release(first, now_ns_);
  // The session without locks is forgotten when its lease is over.
  now_ns_ += kSecond;
  EXPECT_LE(client(2).next_due_ns(), now_ns_);
  server_->advance(now_ns_);
  client(2).advance(now_ns_);
  EXPECT_EQ(events(2), std::vector{Kind::kGranted});
}

}  // namespace
}  // namespace tessera::lock
