// Administrators at a lock server that has clients.
#include "tessera/daemon/lock_admin.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tessera/daemon/metrics_page.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/port/seeded_random.hpp"

namespace tessera::daemon {
namespace {

using namespace lock;

class LockAdminTest : public ::testing::Test {
 protected:
  LockAdminTest()
      : server_({}, random_, nullptr,
                [this](LockServer::Peer peer, const base::Bytes& frame) {
                  told_[peer].push_back(decode(frame).value());
                }),
        admin_(server_, 0, [this](const std::string& line) { log_.push_back(line); }) {
    server_.start(0);
  }

  void join(LockServer::Peer peer, const std::string& name) {
    ASSERT_TRUE(server_.receive(peer, encode(Hello{.client = name}), ++now_ns_));
  }

  void ask(LockServer::Peer peer, Sequence sequence, const std::string& file,
           const pattern::Pattern& bytes, Mode mode = Mode::kExclusive) {
    const Acquire asked = {.sequence = sequence,
                           .oldest = 1,
                           .file = file,
                           .mode = mode,
                           .bytes = pattern::encode(bytes)};
    ASSERT_TRUE(server_.receive(peer, encode(asked), ++now_ns_));
  }

  static pattern::Pattern run(int64_t begin, int64_t length) {
    return pattern::Pattern::run({{begin}}, length).value();
  }

  template <typename Answer>
  Answer say(const AdminMessage& message) {
    const auto answer = admin_.answer(encode(message), now_ns_);
    EXPECT_TRUE(answer);
    return std::get<Answer>(decode_admin(*answer).value());
  }

  // Page by page; also how many pages it took.
  std::pair<std::vector<LockRow>, int> list(ListLocks asked) {
    std::vector<LockRow> all;
    for (int pages = 1;; ++pages) {
      LockList page = say<LockList>(asked);
      EXPECT_LE(page.rows.size(), asked.rows_max);
      all.insert(all.end(), page.rows.begin(), page.rows.end());
      if (page.complete) return {all, pages};
      EXPECT_LT(asked.after, page.next);
      asked.after = page.next;
    }
  }

  port::SeededRandom random_{1};
  int64_t now_ns_ = 0;
  std::map<LockServer::Peer, std::vector<Message>> told_;
  std::vector<std::string> log_;
  LockServer server_;
  LockAdmin admin_;
};

TEST_F(LockAdminTest, HoldersAndWaitersAreSeen) {
  join(1, "one");
  join(2, "two");
  ask(1, 7, "file", pattern::repeat(run(0, 200), 2500, {{1600}}).value());
  ask(2, 3, "file", run(100, 50), Mode::kShared);
  now_ns_ += 1000;
  const LockList page = say<LockList>(ListLocks{});
  EXPECT_TRUE(page.complete);
  ASSERT_EQ(page.rows.size(), 2U);
  const LockRow holder = {.lock = {1, 7},
                          .file = "file",
                          .client = "one",
                          .mode = Mode::kExclusive,
                          .state = LockState::kHeld,
                          .age_ns = 1001,
                          .lease_left_ns = server_.lease_ns() - 1001,
                          .size_bytes = 500'000,
                          .runs = 2500,
                          .begin = 0,
                          .end = 2499 * 1600 + 200};
  EXPECT_TRUE(page.rows[0] == holder);
  EXPECT_EQ(page.rows[1].waits_for, (LockId{1, 7}));
  EXPECT_EQ(page.rows[1].state, LockState::kWaiting);
  EXPECT_EQ(page.rows[1].mode, Mode::kShared);
  EXPECT_EQ(page.facts.sessions, 2);
  EXPECT_EQ(page.facts.requests, 2);
  EXPECT_EQ(page.facts.held, 1);
  EXPECT_EQ(page.facts.files, 1);
  EXPECT_EQ(page.facts.uptime_ns, now_ns_);
  EXPECT_EQ(page.facts.epoch, server_.epoch());
  EXPECT_TRUE(page.facts.counts == server_.counts());
}

TEST_F(LockAdminTest, AnEmptyServerIsToldFromNone) {
  const LockList page = say<LockList>(ListLocks{});
  EXPECT_TRUE(page.complete);
  EXPECT_TRUE(page.rows.empty());
  EXPECT_EQ(page.facts.sessions, 0);
}

TEST_F(LockAdminTest, ManyLocksComeInPages) {
  constexpr int kClients = 4;
  constexpr int kLocks = 2500;
  for (int client = 1; client <= kClients; ++client) {
    join(static_cast<LockServer::Peer>(client), "client");
    for (int i = 1; i <= kLocks; ++i) {
      ask(static_cast<LockServer::Peer>(client), static_cast<Sequence>(i),
          "file" + std::to_string(i % 2), run(i * 100 + client, 1));
    }
  }
  for (const uint64_t rows_max : {kRowsMax, uint64_t{7}}) {
    const auto [rows, pages] = list({.rows_max = rows_max});
    std::set<LockId> ids;
    for (const LockRow& row : rows) ids.insert(row.lock);
    EXPECT_EQ(rows.size(), static_cast<size_t>(kClients * kLocks));
    EXPECT_EQ(ids.size(), rows.size());
  }
  const auto [some, pages] = list({.file = "file1"});
  EXPECT_EQ(some.size(), static_cast<size_t>(kClients * kLocks / 2));
  // A page that finds nothing ends all the same: whoever waits for a lock does not wait for it.
  const auto [none, empty_pages] = list({.file = "elsewhere"});
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(empty_pages, 3);
}

TEST_F(LockAdminTest, ABrokenLockIsLostAndWhoWaitedGoesOn) {
  join(1, "one");
  join(2, "two");
  ask(1, 7, "file", run(0, 10));
  ask(2, 3, "file", run(0, 10));
  EXPECT_EQ(say<LockBroken>(BreakLock{server_.epoch(), {1, 7}}).outcome, BreakOutcome::kBroken);
  const auto* lost = std::get_if<Lost>(&told_[1].back());
  ASSERT_NE(lost, nullptr);
  EXPECT_TRUE(*lost == (Lost{7, Loss::kBroken}));
  EXPECT_TRUE(std::holds_alternative<Granted>(told_[2].back()));
  ASSERT_EQ(log_.size(), 1U);
  EXPECT_NE(log_[0].find("1.7"), std::string::npos);
  EXPECT_EQ(say<LockBroken>(BreakLock{server_.epoch(), {1, 7}}).outcome, BreakOutcome::kNotThere);
  EXPECT_EQ(log_.size(), 1U);
  server_.check_invariants();
}

TEST_F(LockAdminTest, A4NothingOfAnotherEpochIsBroken) {
  join(1, "one");
  ask(1, 7, "file", run(0, 10));
  EXPECT_EQ(say<LockBroken>(BreakLock{server_.epoch() + 2, {1, 7}}).outcome,
            BreakOutcome::kOtherEpoch);
  EXPECT_EQ(server_.requests(), 1U);
}

TEST_F(LockAdminTest, WhatNoAdministratorSendsIsRefused) {
  EXPECT_FALSE(admin_.answer(encode(AdminMessage(LockList{})), 1));
  EXPECT_FALSE(admin_.answer(encode(AdminMessage(LockBroken{})), 1));
  EXPECT_FALSE(admin_.answer(encode(Message(Hello{})), 1));
  EXPECT_FALSE(admin_.answer({}, 1));
}

TEST_F(LockAdminTest, MetricsSayTheSame) {
  join(1, "one");
  join(2, "two");
  ask(1, 7, "file", run(0, 10));
  now_ns_ += 5'000'000;
  ask(2, 3, "file", run(0, 10));
  const std::string page = metrics_page(server_, 1'500'000'000);
  for (const char* line :
       {"tessera_lock_granted_total 1\n", "tessera_lock_sessions 2\n",
        "tessera_lock_requests{state=\"held\"} 1\n", "tessera_lock_requests{state=\"waiting\"} 1\n",
        "tessera_lock_files 1\n", "tessera_lock_in_grace 0\n", "tessera_lock_uptime_seconds 1.5\n",
        "tessera_lock_wait_seconds_bucket{le=\"1e-06\"} 1\n",
        "tessera_lock_wait_seconds_bucket{le=\"+Inf\"} 1\n", "tessera_lock_wait_seconds_count 1\n",
        "# TYPE tessera_lock_wait_seconds histogram\n",
        "# TYPE tessera_lock_granted_total counter\n"}) {
    EXPECT_NE(page.find(line), page.npos) << line;
  }
}

}  // namespace
}  // namespace tessera::daemon
