// The lock server, told frame by frame what its clients say.
#include "tessera/lock/lock_server.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/model_test_support.hpp"
#include "tessera/port/seeded_random.hpp"

namespace tessera::lock {
namespace {

using Peer = LockServer::Peer;
constexpr int64_t kSecond = 1'000'000'000;

base::Bytes run(int64_t begin, int64_t length) {
  return pattern::encode(pattern::Pattern::run({{begin}}, length).value());
}

class LockServerTest : public ::testing::Test, public Fences {
 protected:
  void begin(uint64_t /*epoch*/, SessionId session) override { fencing_.push_back(session); }
  void begin_epoch(uint64_t epoch) override { fencing_epochs_.push_back(epoch); }

  void start(const LockServerSettings& settings, bool fences = false) {
    server_ = std::make_unique<LockServer>(
        settings, random_, fences ? this : nullptr,
        [this](Peer peer, const base::Bytes& frame) { sent_[peer].push_back(frame); });
    server_->start(now_ns_);
  }

  [[nodiscard]] base::Result<void> say(Peer peer, const Message& message) {
    const auto taken = server_->receive(peer, encode(message), now_ns_);
    server_->check_invariants();
    return taken;
  }

  // The next thing that the server told a peer; requires that there is one of that kind.
  template <typename Kind>
  Kind hear(Peer peer) {
    std::deque<base::Bytes>& frames = sent_[peer];
    if (frames.empty()) {
      ADD_FAILURE() << "nothing was sent";
      return {};
    }
    const Message message = decode(frames.front()).value();
    frames.pop_front();
    EXPECT_TRUE(std::holds_alternative<Kind>(message)) << message.index();
    return std::holds_alternative<Kind>(message) ? std::get<Kind>(message) : Kind{};
  }
  [[nodiscard]] bool silent(Peer peer) { return sent_[peer].empty(); }

  Welcome join(Peer peer) {
    EXPECT_TRUE(say(peer, Hello{.client = "test"}));
    return hear<Welcome>(peer);
  }

  void ask(Peer peer, Sequence sequence, base::Bytes bytes, int64_t wait_ns = -1) {
    EXPECT_TRUE(say(peer, Acquire{.sequence = sequence,
                                  .oldest = 1,
                                  .stamp_ns = now_ns_,
                                  .file = "file",
                                  .wait_ns = wait_ns,
                                  .bytes = std::move(bytes)}));
  }

  void keep(Peer peer, Sequence sequence, base::Bytes bytes) {
    EXPECT_TRUE(say(peer, Acquire{.sequence = sequence,
                                  .oldest = 1,
                                  .stamp_ns = now_ns_,
                                  .file = "file",
                                  .recallable = true,
                                  .bytes = std::move(bytes)}));
  }

  void pass(int64_t by_ns) {
    now_ns_ += by_ns;
    server_->advance(now_ns_);
    server_->check_invariants();
  }

  port::SeededRandom random_{1};
  int64_t now_ns_ = 1;
  std::unique_ptr<LockServer> server_;
  std::map<Peer, std::deque<base::Bytes>> sent_;
  std::vector<SessionId> fencing_;
  std::vector<uint64_t> fencing_epochs_;
};

TEST_F(LockServerTest, GrantsWaitsAndGrants) {
  start({});
  join(1);
  join(2);
  ask(1, 1, run(0, 10));
  EXPECT_EQ(hear<Granted>(1).sequence, 1U);
  ask(2, 5, run(5, 10));
  EXPECT_TRUE(silent(2));
  EXPECT_TRUE(say(1, Release{1, 2, now_ns_}));
  EXPECT_EQ(hear<Granted>(2).sequence, 5U);
  EXPECT_EQ(server_->counts().granted, 2U);
  EXPECT_EQ(server_->counts().waited, 1U);
}

TEST_F(LockServerTest, S3ARepeatedRequestIsTheSameRequest) {
  start({});
  join(1);
  join(2);
  for (int i = 0; i < 3; ++i) {
    ask(1, 1, run(0, 10));
    EXPECT_EQ(hear<Granted>(1).sequence, 1U);
    ask(2, 1, run(0, 10));
    EXPECT_TRUE(silent(2));
    ask(2, 2, run(0, 10), 0);
    EXPECT_EQ(hear<Refused>(2).why, Refusal::kWouldWait);
  }
  EXPECT_EQ(server_->requests(), 2U);
  EXPECT_TRUE(say(1, Release{1, 1, now_ns_}));
  EXPECT_TRUE(say(1, Release{1, 1, now_ns_}));
  EXPECT_EQ(hear<Granted>(2).sequence, 1U);
  // One that comes after its release is not granted again.
  ask(1, 1, run(20, 10));
  EXPECT_TRUE(silent(1));
  EXPECT_EQ(server_->requests(), 1U);
}

TEST_F(LockServerTest, AReleaseThatOvertakesItsRequestCounts) {
  start({});
  join(1);
  EXPECT_TRUE(say(1, Release{4, 1, now_ns_}));
  ask(1, 4, run(0, 10));
  EXPECT_TRUE(silent(1));
  EXPECT_EQ(server_->requests(), 0U);
}

TEST_F(LockServerTest, WhoMayNotWaitIsRefused) {
  start({});
  join(1);
  join(2);
  ask(1, 1, run(0, 10));
  ask(2, 1, run(0, 10), 0);
  EXPECT_EQ(hear<Refused>(2).why, Refusal::kWouldWait);
  ask(2, 2, run(0, 10), kSecond);
  pass(kSecond / 2);
  EXPECT_TRUE(silent(2));
  pass(kSecond / 2);
  EXPECT_EQ(hear<Refused>(2).sequence, 2U);
  EXPECT_EQ(server_->requests(), 1U);
}

TEST_F(LockServerTest, S1ASessionThatIsHeardOfKeepsItsLocks) {
  start({.lease_ns = kSecond});
  const Welcome first = join(1);
  join(2);
  ask(1, 1, run(0, 10));
  EXPECT_EQ(hear<Granted>(1).sequence, 1U);
  ask(2, 1, run(0, 10));
  // The connection is lost, and the client comes back on another.
  server_->disconnect(1);
  pass(kSecond - 1);
  EXPECT_TRUE(say(2, Renew{now_ns_, 1, {1}}));
  EXPECT_EQ(hear<Renewed>(2).stamp_ns, now_ns_);
  EXPECT_TRUE(say(3, Hello{first.epoch, first.session, first.secret, now_ns_, "test", {1}, false}));
  EXPECT_TRUE(hear<Welcome>(3).resumed);
  pass(kSecond - 1);
  EXPECT_TRUE(silent(2));
  // Then it is not heard of for a lease.
  EXPECT_TRUE(say(2, Renew{now_ns_, 1, {1}}));
  EXPECT_EQ(hear<Renewed>(2).stamp_ns, now_ns_);
  pass(1);
  EXPECT_EQ(hear<Lost>(3).why, Loss::kExpired);
  EXPECT_EQ(hear<Granted>(2).sequence, 1U);
  EXPECT_FALSE(say(3, Renew{now_ns_, 1, {1}}));
}

TEST_F(LockServerTest, WhatAClientDoesNotNameAnyMoreIsReleased) {
  start({});
  const Welcome first = join(1);
  for (Sequence sequence = 1; sequence <= 4; ++sequence) {
    ask(1, sequence, run(static_cast<int64_t>(sequence) * 10, 10));
  }
  EXPECT_TRUE(say(1, Renew{now_ns_, 3, {1, 3}}));
  EXPECT_EQ(server_->requests(), 3U);
  EXPECT_TRUE(say(2, Hello{first.epoch, first.session, first.secret, now_ns_, "test", {3}, false}));
  EXPECT_EQ(server_->requests(), 1U);
}

TEST_F(LockServerTest, NobodyResumesTheSessionOfAnother) {
  start({});
  const Welcome first = join(1);
  const auto stolen =
      say(2, Hello{first.epoch, first.session, first.secret + 1, now_ns_, "thief", {}, false});
  EXPECT_EQ(stolen.error().code, base::Code::kDenied);
  EXPECT_EQ(server_->sessions(), 1U);
}

TEST_F(LockServerTest, S2BytesOfADeadSessionAreFreeOnceEveryStoreRefusesIt) {
  start({.lease_ns = kSecond}, true);
  const Welcome first = join(1);
  join(2);
  ask(1, 1, run(0, 10));
  now_ns_ += kSecond / 2;
  ask(2, 1, run(0, 10));
  pass(kSecond / 2);
  EXPECT_EQ(fencing_, std::vector<SessionId>{first.session});
  EXPECT_TRUE(silent(2));
  // Who comes back meanwhile is somebody else.
  EXPECT_TRUE(say(3, Hello{first.epoch, first.session, first.secret, now_ns_, "test", {1}, false}));
  EXPECT_FALSE(hear<Welcome>(3).resumed);
  server_->fenced(first.session);
  EXPECT_EQ(hear<Granted>(2).sequence, 1U);
}

TEST_F(LockServerTest, WhatIsHeldTooLongIsTakenAway) {
  start({});
  join(1);
  EXPECT_TRUE(say(1, Acquire{.sequence = 1,
                             .stamp_ns = now_ns_,
                             .file = "file",
                             .hold_ns = kSecond,
                             .bytes = run(0, 10)}));
  EXPECT_EQ(hear<Granted>(1).sequence, 1U);
  pass(kSecond - 1);
  EXPECT_TRUE(silent(1));
  pass(1);
  const Lost lost = hear<Lost>(1);
  EXPECT_EQ(lost.sequence, 1U);
  EXPECT_EQ(lost.why, Loss::kHeldLong);
  EXPECT_EQ(server_->requests(), 0U);
}

TEST_F(LockServerTest, AnAdministratorBreaksALock) {
  start({});
  const Welcome first = join(1);
  join(2);
  ask(1, 1, run(0, 10));
  EXPECT_EQ(hear<Granted>(1).sequence, 1U);
  ask(2, 1, run(0, 10));
  EXPECT_FALSE(server_->break_lock(first.session, 2));
  EXPECT_FALSE(server_->break_lock(99, 1));
  EXPECT_TRUE(server_->break_lock(first.session, 1));
  EXPECT_EQ(hear<Lost>(1).why, Loss::kBroken);
  EXPECT_EQ(hear<Granted>(2).sequence, 1U);
}

TEST_F(LockServerTest, S4AfterARestartOnlyWhatWasHeldIsGranted) {
  start({.restarted = true, .grace_ns = kSecond}, true);
  join(1);
  join(2);
  ask(2, 1, run(0, 10));
  ask(2, 2, run(100, 10), 0);
  EXPECT_EQ(hear<Refused>(2).why, Refusal::kWouldWait);
  Acquire reclaimed = {.sequence = 7, .file = "file", .reclaims = true, .bytes = run(0, 10)};
  EXPECT_TRUE(say(1, reclaimed));
  EXPECT_EQ(hear<Granted>(1).sequence, 7U);
  // Not twice.
  reclaimed.bytes = run(9, 10);
  reclaimed.sequence = 8;
  EXPECT_TRUE(say(2, reclaimed));
  EXPECT_EQ(hear<Refused>(2).why, Refusal::kTooLate);
  pass(kSecond);
  EXPECT_EQ(fencing_epochs_, std::vector<uint64_t>{server_->epoch()});
  EXPECT_TRUE(server_->in_grace());
  server_->epoch_fenced();
  EXPECT_FALSE(server_->in_grace());
  reclaimed.bytes = run(50, 10);
  reclaimed.sequence = 9;
  EXPECT_TRUE(say(1, reclaimed));
  EXPECT_EQ(hear<Refused>(1).why, Refusal::kTooLate);
  // Who came early has its turn.
  EXPECT_TRUE(silent(2));
  EXPECT_TRUE(say(1, Release{7, 1, now_ns_}));
  EXPECT_EQ(hear<Granted>(2).sequence, 1U);
}

TEST_F(LockServerTest, BadClaimsAreRefusedAndHarmNobody) {
  start({});
  join(1);
  join(2);
  ask(2, 1, run(0, 10));
  EXPECT_EQ(hear<Granted>(2).sequence, 1U);
  const auto negative = run(-5, 10);
  const auto descending = pattern::encode(
      pattern::repeat(pattern::Pattern::run({{100}}, 4).value(), 5, {{-8}}).value());
  const auto nothing = pattern::encode(pattern::Pattern());
  const base::Bytes garbage(50, std::byte{0xee});
  Sequence sequence = 1;
  for (const base::Bytes& bytes : {negative, descending, nothing, garbage, base::Bytes()}) {
    ask(1, sequence++, bytes);
    EXPECT_EQ(hear<Refused>(1).why, Refusal::kInvalid);
  }
  EXPECT_EQ(server_->requests(), 1U);
}

TEST_F(LockServerTest, S5WhoKeepsALockIsToldWhenSomebodyWaits) {
  start({});
  for (const Peer peer : {1U, 2U, 3U}) join(peer);
  keep(1, 1, run(0, 10));
  keep(1, 2, run(10, 10));
  keep(1, 3, run(90, 10));
  for (Sequence sequence = 1; sequence <= 3; ++sequence) {
    EXPECT_EQ(hear<Granted>(1).sequence, sequence);
  }
  // Who may not wait, or need not, recalls nobody.
  ask(2, 1, run(5, 10), 0);
  EXPECT_EQ(hear<Refused>(2).why, Refusal::kWouldWait);
  ask(2, 2, run(20, 10));
  EXPECT_EQ(hear<Granted>(2).sequence, 2U);
  EXPECT_TRUE(silent(1));
  // All that are waited for, each once.
  ask(2, 3, run(5, 10));
  EXPECT_EQ(hear<Recall>(1).sequence, 2U);
  EXPECT_EQ(hear<Recall>(1).sequence, 1U);
  ask(3, 1, run(0, 30));
  EXPECT_TRUE(silent(1));
  EXPECT_TRUE(silent(2));
  EXPECT_TRUE(say(1, Release{1, 1, now_ns_}));
  EXPECT_TRUE(silent(2));
  EXPECT_TRUE(say(1, Release{2, 1, now_ns_}));
  EXPECT_EQ(hear<Granted>(2).sequence, 3U);
  EXPECT_EQ(server_->counts().recalled, 2U);
}

TEST_F(LockServerTest, S5OneThatIsWantedIsRecalledWhenItIsGranted) {
  start({});
  for (const Peer peer : {1U, 2U, 3U}) join(peer);
  ask(1, 1, run(0, 10));
  EXPECT_EQ(hear<Granted>(1).sequence, 1U);
  keep(2, 1, run(0, 10));
  ask(3, 1, run(0, 10));
  EXPECT_TRUE(silent(1));
  EXPECT_TRUE(silent(2));
  EXPECT_TRUE(say(1, Release{1, 2, now_ns_}));
  EXPECT_EQ(hear<Granted>(2).sequence, 1U);
  EXPECT_EQ(hear<Recall>(2).sequence, 1U);
}

TEST_F(LockServerTest, S5ARecallThatWasLostIsRepeated) {
  start({.lease_ns = kSecond});
  const Welcome first = join(1);
  join(2);
  keep(1, 1, run(0, 10));
  ask(2, 1, run(0, 10));
  sent_.clear();
  EXPECT_TRUE(say(1, Renew{now_ns_, 1, {1}}));
  EXPECT_EQ(hear<Renewed>(1).stamp_ns, now_ns_);
  EXPECT_EQ(hear<Recall>(1).sequence, 1U);
  server_->disconnect(1);
  EXPECT_TRUE(say(3, Hello{first.epoch, first.session, first.secret, now_ns_, "test", {1}, false}));
  EXPECT_TRUE(hear<Welcome>(3).resumed);
  EXPECT_EQ(hear<Recall>(3).sequence, 1U);
}

TEST_F(LockServerTest, S5OneThatWasReclaimedIsRecalledAfterTheGracePeriod) {
  start({.restarted = true, .grace_ns = kSecond});
  join(1);
  join(2);
  ask(2, 1, run(0, 10));
  EXPECT_TRUE(say(1, Acquire{.sequence = 7,
                             .file = "file",
                             .reclaims = true,
                             .recallable = true,
                             .bytes = run(0, 10)}));
  EXPECT_EQ(hear<Granted>(1).sequence, 7U);
  EXPECT_TRUE(silent(1));
  pass(kSecond);
  EXPECT_EQ(hear<Recall>(1).sequence, 7U);
}

TEST_F(LockServerTest, S6MessagesThatNobodySendsEndTheConnection) {
  start({});
  EXPECT_FALSE(say(1, Renew{}));
  EXPECT_FALSE(say(1, Granted{1, 1}));
  join(1);
  EXPECT_FALSE(say(1, Hello{}));
  EXPECT_FALSE(say(1, Welcome{1, 1, 1, 1, 1, false, {}}));
  EXPECT_FALSE(server_->receive(1, base::bytes_of("GET / HTTP/1.1"), now_ns_));
  EXPECT_EQ(server_->sessions(), 1U);
}

TEST_F(LockServerTest, S6TheLastRoomIsForProxies) {
  start({.sessions_max = 3, .sessions_for_proxies = 1});
  join(1);
  join(2);
  EXPECT_EQ(say(3, Hello{}).error().code, base::Code::kRetry);
  EXPECT_EQ(hear<Lost>(3).why, Loss::kFull);
  EXPECT_TRUE(say(4, Hello{.is_proxy = true}));
  EXPECT_FALSE(hear<Welcome>(4).resumed);
  EXPECT_EQ(say(5, Hello{.is_proxy = true}).error().code, base::Code::kRetry);
  EXPECT_EQ(hear<Lost>(5).why, Loss::kFull);
}

TEST_F(LockServerTest, S6NobodyHasMoreThanItsShare) {
  start({.sessions_max = 2, .session_requests_max = 3});
  join(1);
  join(2);
  EXPECT_EQ(say(3, Hello{}).error().code, base::Code::kRetry);
  EXPECT_EQ(hear<Lost>(3).why, Loss::kFull);
  for (Sequence sequence = 1; sequence <= 3; ++sequence) {
    ask(1, sequence, run(static_cast<int64_t>(sequence) * 10, 10));
    EXPECT_EQ(hear<Granted>(1).sequence, sequence);
  }
  for (Sequence sequence = 4; sequence < 100; ++sequence) {
    ask(1, sequence, run(90, 10));
    EXPECT_EQ(hear<Refused>(1).why, Refusal::kBusy);
  }
  // Those that were refused take no room.
  EXPECT_TRUE(say(1, Release{3, 100, now_ns_}));
  EXPECT_TRUE(say(1, Renew{now_ns_, 99, {1, 2}}));
  EXPECT_EQ(hear<Renewed>(1).stamp_ns, now_ns_);
  ask(1, 100, run(90, 10));
  EXPECT_EQ(hear<Granted>(1).sequence, 100U);
}

// One lock for long, many others meanwhile.
TEST_F(LockServerTest, S6WhatIsOverTakesNoRoom) {
  start({.session_requests_max = 3});
  join(1);
  ask(1, 1, run(0, 10));
  EXPECT_EQ(hear<Granted>(1).sequence, 1U);
  for (Sequence sequence = 2; sequence < 5000; ++sequence) {
    ask(1, sequence, run(50, 10));
    ASSERT_EQ(hear<Granted>(1).sequence, sequence);
    ASSERT_TRUE(say(1, Release{sequence, 1, now_ns_}));
  }
  EXPECT_EQ(server_->requests(), 1U);
}

TEST_F(LockServerTest, S6PatternsHaveOneBound) {
  const auto bytes = run(0, 10);
  start({.restarted = true, .grace_ns = kSecond, .pattern_bytes_max = 3 * bytes.size()});
  join(1);
  join(2);
  for (Sequence sequence = 1; sequence <= 3; ++sequence) ask(1, sequence, bytes);
  EXPECT_TRUE(silent(1));
  ask(2, 1, bytes);
  EXPECT_EQ(hear<Refused>(2).why, Refusal::kBusy);
  pass(kSecond);
  EXPECT_EQ(hear<Granted>(1).sequence, 1U);
  ask(2, 2, bytes);
  EXPECT_EQ(hear<Refused>(2).why, Refusal::kBusy);
  EXPECT_TRUE(say(1, Goodbye{}));
  ask(2, 3, bytes);
  EXPECT_EQ(hear<Granted>(2).sequence, 3U);
}

TEST_F(LockServerTest, GoodbyeReleasesAll) {
  start({});
  join(1);
  join(2);
  ask(1, 1, run(0, 10));
  ask(2, 1, run(0, 10));
  EXPECT_TRUE(say(1, Goodbye{}));
  EXPECT_EQ(hear<Granted>(2).sequence, 1U);
  EXPECT_EQ(server_->sessions(), 1U);
}

TEST_F(LockServerTest, WhoLooksSeesWhoHasWhatAndWhoWaits) {
  start({.lease_ns = kSecond});
  const Welcome first = join(1);
  join(2);
  ask(1, 1, run(0, 10));
  now_ns_ += 10;
  ask(2, 1, run(5, 10));
  std::vector<LockServer::View> seen(2);
  server_->for_each(now_ns_, [&](const LockServer::View& view) {
    seen[view.state == LockState::kHeld ? 0 : 1] = view;
  });
  EXPECT_EQ(seen[0].session, first.session);
  EXPECT_EQ(seen[0].file, "file");
  EXPECT_EQ(seen[0].lease_ns_left, kSecond - 10);
  EXPECT_EQ(seen[1].waits_for, seen[0].ticket);
  EXPECT_EQ(seen[1].claim->bytes.span(), (Interval{5, 15}));
}

TEST_F(LockServerTest, RequestsAreVisitedInTheOrderOfTheirNames) {
  start({});
  join(1);
  join(2);
  for (const Sequence sequence : {9U, 4U, 300U}) {
    ask(1, sequence, run(static_cast<int64_t>(sequence) * 10, 10));
    ask(2, sequence, run(static_cast<int64_t>(sequence) * 10, 10));
  }
  const auto visited = [&](LockId after, size_t at_most) {
    std::vector<LockId> ids;
    server_->visit_after(after, now_ns_, [&](const LockServer::View& view) {
      if (ids.size() == at_most) return false;
      EXPECT_EQ(view.waits_for.has_value(), view.session == 2);
      if (view.waits_for) {
        EXPECT_EQ(server_->id_of(*view.waits_for), (LockId{1, view.sequence}));
      }
      ids.push_back(view.id());
      return true;
    });
    return ids;
  };
  const std::vector<LockId> all = {{1, 4}, {1, 9}, {1, 300}, {2, 4}, {2, 9}, {2, 300}};
  EXPECT_EQ(visited({}, 100), all);
  EXPECT_EQ(visited({1, 9}, 2), (std::vector<LockId>{{1, 300}, {2, 4}}));
  EXPECT_EQ(visited({2, 300}, 100), std::vector<LockId>{});
  EXPECT_EQ(server_->held(), 3U);
}

TEST_F(LockServerTest, WaitsAreCountedFromRequestToGrant) {
  start({});
  join(1);
  join(2);
  ask(1, 1, run(0, 10));
  ask(2, 1, run(0, 10));
  pass(kSecond / 2);
  EXPECT_TRUE(say(1, Release{1, 1, now_ns_}));
  EXPECT_EQ(server_->waits().counts()[0], 1U);
  EXPECT_EQ(server_->waits().counts()[6], 1U);
  EXPECT_EQ(server_->waits().sum_ns(), static_cast<double>(kSecond) / 2);
}

}  // namespace
}  // namespace tessera::lock
