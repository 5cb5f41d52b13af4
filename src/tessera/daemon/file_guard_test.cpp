#include "tessera/daemon/file_guard.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tessera/pattern/encode.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::daemon {
namespace {

using lock::LocalClient;
using Kind = lock::LockClient::Event::Kind;

constexpr int64_t kMs = 1'000'000;

class FileGuardTest : public ::testing::Test {
 protected:
  FileGuardTest() {
    std::ofstream(path_) << "bytes";
    server_.start(0);
  }

  std::unique_ptr<port::PlainFile> open() {
    return port::PlainFile::open(path_, {.read = true, .write = true}).value();
  }
  void start() {
    guard_.emplace(server_, open(), "f");
    guard_->start(now_ns_);
  }
  // Lets time pass in small steps.
  void pass(int64_t ns) {
    for (const int64_t end_ns = now_ns_ + ns; now_ns_ < end_ns;) {
      now_ns_ += kMs;
      server_.advance(now_ns_);
      client_.advance(now_ns_);
      guard_->advance(now_ns_);
      for (const auto& event : client_.take_events(now_ns_)) seen_[event.sequence] = event.kind;
    }
  }
  lock::Sequence ask(int64_t begin, int64_t end) {
    const lock::Sequence asked = client_.acquire(
        {.file = "f", .claim = {pattern::ByteSet::of({begin, end}).value()}}, now_ns_);
    pass(2 * kMs);
    return asked;
  }
  bool holds(lock::Sequence sequence) { return client_.holds(sequence, now_ns_); }
  // Whether a program outside gets an fcntl lock on some byte now.
  bool outside_gets(port::PlainFile& file) {
    return file.try_lock_range(3, 4, port::RangeLock::kExclusive).value();
  }
  void outside_releases(port::PlainFile& file) {
    EXPECT_TRUE(file.try_lock_range(3, 4, port::RangeLock::kUnlock).value());
  }

  const port::TestDirectory directory_ = {};
  const std::string path_ = directory_.path("file");
  int64_t now_ns_ = 0;
  port::SeededRandom random_{1};
  std::optional<FileGuard> guard_;
  lock::LockServer server_{
      {}, random_, nullptr, [this](lock::LockServer::Peer peer, base::Bytes frame) {
        if (peer == FileGuard::kPeer) {
          guard_->deliver(std::move(frame));
        } else {
          client_.deliver(std::move(frame));
        }
      }};
  LocalClient client_{server_, 1, "client"};
  std::map<lock::Sequence, Kind> seen_;
};

TEST_F(FileGuardTest, WhoLocksByFcntlWaitsWhileAClientHoldsALock) {
  start();
  const auto outside = open();
  const lock::Sequence held = ask(100, 200);
  ASSERT_TRUE(holds(held));
  EXPECT_FALSE(outside_gets(*outside));
  pass(500 * kMs);
  EXPECT_FALSE(outside_gets(*outside));
  client_.release(held, now_ns_);
  pass(100 * kMs);
  EXPECT_TRUE(outside_gets(*outside));
}

TEST_F(FileGuardTest, AClientWaitsWhileAProgramOutsideHasTheFile) {
  const auto outside = open();
  ASSERT_TRUE(outside_gets(*outside));
  start();
  const lock::Sequence asked = ask(0, 10);
  pass(100 * kMs);
  EXPECT_FALSE(holds(asked));
  outside_releases(*outside);
  pass(20 * kMs);
  EXPECT_TRUE(holds(asked));
}

// G2
TEST_F(FileGuardTest, ABusyClientDoesNotStarveThoseOutside) {
  start();
  const auto outside = open();
  bool got = false;
  for (int round = 0; round < 2000 && !got; ++round) {
    const lock::Sequence held = ask(0, 10);
    EXPECT_TRUE(holds(held) || !guard_->is_clients_turn());
    client_.release(held, now_ns_);
    got = outside_gets(*outside);
  }
  EXPECT_TRUE(got);
  EXPECT_LT(now_ns_, 3'000 * kMs);
}

// G3: clients that grant themselves locks, now and then.
TEST_F(FileGuardTest, WhoUsesTheBoardKeepsTheFileButForMoments) {
  const auto memory = std::make_unique<lock::BoardMemory>();
  lock::BoardKeeper board(*memory, 1);
  server_.use_board(board, {.file = "f"});
  server_.set_outsider(FileGuard::kPeer);
  start();
  const auto outside = open();
  lock::BoardSeat seat(*memory, 0, nullptr);
  const lock::Claim claim = {pattern::ByteSet::of({0, 1}).value()};
  const auto encoded = pattern::encode(claim.bytes.ascending());
  int turns = 0;
  const auto live = [&](int64_t ns, bool claims) {
    for (const int64_t end_ns = now_ns_ + ns; now_ns_ < end_ns;) {
      pass(kMs);
      if (guard_->is_clients_turn()) server_.open_board(now_ns_);
      if (claims && now_ns_ % (100 * kMs) == 0) {
        if (const auto held = seat.claim({1, 1, claim.mode, encoded}, claim)) {
          EXPECT_FALSE(outside_gets(*outside));
          seat.release(*held);
        }
      }
      if (!outside_gets(*outside)) continue;
      ++turns;
      outside_releases(*outside);
    }
  };
  live(3500 * kMs, true);
  // In each of three pauses at each of its milliseconds, or nearly.
  EXPECT_GE(turns, 3);
  EXPECT_LE(turns, 3 * 8);
  // Nobody asked, and yet it is the clients' turn again.
  EXPECT_TRUE(guard_->is_clients_turn());
  live(2500 * kMs, false);
  EXPECT_FALSE(guard_->is_clients_turn());
  // Who claims finds the world's lock on the board, and asks; then the board is as it was.
  EXPECT_FALSE(seat.claim({1, 1, claim.mode, encoded}, claim));
  const lock::Sequence asked = ask(0, 10);
  pass(20 * kMs);
  EXPECT_TRUE(holds(asked));
  client_.release(asked, now_ns_);
  server_.open_board(now_ns_);
  EXPECT_TRUE(seat.claim({1, 1, claim.mode, encoded}, claim));
}

TEST_F(FileGuardTest, AfterARestartTheRangeLockIsTakenAtOnce) {
  start();
  EXPECT_TRUE(guard_->is_clients_turn());
  const auto outside = open();
  EXPECT_FALSE(outside_gets(*outside));
}

}  // namespace
}  // namespace tessera::daemon
