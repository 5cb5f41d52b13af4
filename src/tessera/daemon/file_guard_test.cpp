#include "tessera/daemon/file_guard.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "tessera/lock/fcntl_locks.hpp"
#include "tessera/lock/lock_client.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::daemon {
namespace {

using Kind = lock::LockClient::Event::Kind;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kTurnMs = FileGuard::kTurnNs / kMs;

// A client in the process of its server; frames are handed over when it looks.
class Client {
 public:
  Client(lock::LockServer& server, lock::LockServer::Peer peer)
      : server_(server),
        peer_(peer),
        client_("client", [this](base::Bytes frame) { to_server_.push_back(std::move(frame)); }) {
    client_.connected(0);
  }
  lock::LockClient& side() { return client_; }
  void deliver(base::Bytes frame) { to_client_.push_back(std::move(frame)); }
  void exchange(int64_t now_ns) {
    while (!to_server_.empty() || !to_client_.empty()) {
      for (const base::Bytes& frame : std::exchange(to_server_, {})) {
        EXPECT_TRUE(server_.receive(peer_, frame, now_ns));
      }
      for (const base::Bytes& frame : std::exchange(to_client_, {})) {
        EXPECT_TRUE(client_.receive(frame, now_ns));
      }
    }
  }

 private:
  lock::LockServer& server_;
  const lock::LockServer::Peer peer_;
  std::vector<base::Bytes> to_server_;
  std::vector<base::Bytes> to_client_;
  lock::LockClient client_;
};

class FileGuardTest : public ::testing::Test {
 protected:
  FileGuardTest() { std::ofstream(path_) << "bytes"; }

  std::unique_ptr<port::PlainFile> open() {
    return port::PlainFile::open(path_, {.read = true, .write = true}).value();
  }
  void start(const lock::LockServerSettings& settings = {}) {
    guard_.emplace(open());
    server_.emplace(
        settings, random_, nullptr,
        [this](lock::LockServer::Peer peer, base::Bytes frame) {
          client(static_cast<int>(peer)).deliver(std::move(frame));
        },
        &*guard_);
    server_->start(now_ns_);
    for (int i = 0; i < 2; ++i) {
      clients_.push_back(
          std::make_unique<Client>(*server_, static_cast<lock::LockServer::Peer>(i)));
    }
  }
  Client& client(int i) { return *clients_[static_cast<size_t>(i)]; }
  // What a daemon does after each batch of frames, and what clients do.
  void look() {
    for (int i = 0; i < 2; ++i) {
      client(i).side().advance(now_ns_);
      client(i).exchange(now_ns_);
    }
    server_->advance(now_ns_);
    guard_->advance(*server_, now_ns_);
    for (int i = 0; i < 2; ++i) {
      client(i).exchange(now_ns_);
      for (const auto& event : client(i).side().take_events()) {
        seen_[{i, event.sequence}] = event.kind;
      }
    }
  }
  void pass(int64_t ns) {
    for (const int64_t end_ns = now_ns_ + ns; now_ns_ < end_ns;) {
      now_ns_ += kMs;
      look();
    }
  }
  lock::Sequence ask(int of, int64_t begin, int64_t end, bool recallable = false) {
    const lock::Claim claim = {pattern::ByteSet::of({begin, end}).value()};
    const lock::Sequence asked =
        client(of).side().acquire({.file = "f", .claim = claim, .recallable = recallable}, now_ns_);
    look();
    return asked;
  }
  void release(int of, lock::Sequence sequence) {
    client(of).side().release(sequence, now_ns_);
    look();
  }
  bool holds(int of, lock::Sequence sequence) { return client(of).side().holds(sequence, now_ns_); }
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
  std::optional<lock::LockServer> server_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::map<std::pair<int, lock::Sequence>, Kind> seen_;
};

// (GUARD-1), (GUARD-2)
TEST_F(FileGuardTest, TheFileIsLockedWhileAClientHasALockAndFreeAtOnceAfterwards) {
  start();
  const auto outside = open();
  EXPECT_TRUE(outside_gets(*outside));
  outside_releases(*outside);
  const lock::Sequence held = ask(0, 100, 200);
  ASSERT_TRUE(holds(0, held));
  EXPECT_FALSE(outside_gets(*outside));
  pass(500 * kMs);
  EXPECT_FALSE(outside_gets(*outside));
  release(0, held);
  EXPECT_TRUE(outside_gets(*outside));
}

// (GUARD-2): the file is not given back and taken again for each of those who wait for each other.
TEST_F(FileGuardTest, TheFileIsPassedOnAmongClientsThatWait) {
  start();
  const auto outside = open();
  const lock::Sequence first = ask(0, 0, 10);
  const lock::Sequence second = ask(1, 5, 15);
  EXPECT_FALSE(holds(1, second));
  release(0, first);
  EXPECT_TRUE(holds(1, second));
  EXPECT_FALSE(outside_gets(*outside));
  release(1, second);
  EXPECT_TRUE(outside_gets(*outside));
}

TEST_F(FileGuardTest, AClientWaitsWhileAProgramOutsideHasTheFileAndHasItSoonAfterwards) {
  start();
  const auto outside = open();
  ASSERT_TRUE(outside_gets(*outside));
  const lock::Sequence asked = ask(0, 0, 10);
  pass(100 * kMs);
  EXPECT_FALSE(holds(0, asked));
  outside_releases(*outside);
  pass(2 * kMs);
  EXPECT_TRUE(holds(0, asked));
}

TEST_F(FileGuardTest, WhoMayNotWaitIsRefusedWhileAProgramOutsideHasTheFile) {
  start();
  const auto outside = open();
  ASSERT_TRUE(outside_gets(*outside));
  const lock::Claim claim = {pattern::ByteSet::of({0, 10}).value()};
  const auto asked = client(0).side().acquire({.file = "f", .claim = claim, .wait_ns = 0}, now_ns_);
  look();
  EXPECT_EQ((seen_.at({0, asked})), Kind::kRefused);
  outside_releases(*outside);
  EXPECT_FALSE(guard_->next_due_ns());
}

// (GUARD-3): some client has a lock at every moment.
TEST_F(FileGuardTest, BusyClientsDoNotStarveProgramsOutside) {
  start();
  const auto outside = open();
  std::optional<lock::Sequence> held[2];
  int64_t waited_ns = 0;
  int turns = 0;
  for (int step = 0; step < 1000; ++step) {
    const int of = step % 2;
    if (!held[of]) held[of] = ask(of, 10 * of, 10 * of + 10);
    pass(kMs);
    const int other = 1 - of;
    if (held[other] && holds(other, *held[other])) {
      release(other, *std::exchange(held[other], std::nullopt));
    }
    waited_ns += kMs;
    if (!outside_gets(*outside)) continue;
    EXPECT_LE(waited_ns, FileGuard::kTurnNs + 5 * kMs);
    outside_releases(*outside);
    waited_ns = 0;
    ++turns;
  }
  EXPECT_GE(turns, 1000 / (kTurnMs + 10));
  // Most of the time is the clients'.
  EXPECT_LE(turns, 8 * (1000 / kTurnMs));
}

// (GUARD-3): a lock that is cached is recalled, and had again.
TEST_F(FileGuardTest, ACachedLockDoesNotKeepProgramsOutsideOut) {
  start();
  const auto outside = open();
  const lock::Sequence cached = ask(0, 0, 10, true);
  ASSERT_TRUE(holds(0, cached));
  pass(FileGuard::kTurnNs - 2 * kMs);
  EXPECT_EQ((seen_.at({0, cached})), Kind::kGranted);
  pass(3 * kMs);
  ASSERT_EQ((seen_.at({0, cached})), Kind::kRecalled);
  EXPECT_FALSE(outside_gets(*outside));
  const lock::Sequence waits = ask(1, 100, 110);
  EXPECT_FALSE(holds(1, waits));
  release(0, cached);
  EXPECT_TRUE(outside_gets(*outside));
  pass(10 * kMs);
  EXPECT_FALSE(holds(1, waits));
  outside_releases(*outside);
  pass(2 * kMs);
  EXPECT_TRUE(holds(1, waits));
}

// (GUARD-4): whoever locks by fcntl sees that clients want the file, also while it has it itself.
TEST_F(FileGuardTest, TheMarkIsThereWhileClientsHaveTheFileOrWantIt) {
  start();
  const auto outside = open();
  const auto other = open();
  EXPECT_FALSE(lock::is_marked(*other));
  const lock::Sequence held = ask(0, 0, 10);
  EXPECT_TRUE(lock::is_marked(*other));
  release(0, held);
  EXPECT_FALSE(lock::is_marked(*other));
  ASSERT_TRUE(outside_gets(*outside));
  EXPECT_FALSE(lock::is_marked(*other));
  const lock::Sequence waits = ask(0, 0, 10);
  EXPECT_TRUE(lock::is_marked(*other));
  release(0, waits);
  EXPECT_FALSE(lock::is_marked(*other));
}

// (GUARD-4): two servers that wait for the file at the same time, on two nodes, do not keep each
// other out by their marks.
TEST_F(FileGuardTest, ServersOfOneFileHaveItOneAfterTheOther) {
  start();
  FileGuard guard(open());
  std::optional<Client> elsewhere;
  lock::LockServer server(
      {}, random_, nullptr,
      [&](lock::LockServer::Peer, base::Bytes frame) { elsewhere->deliver(std::move(frame)); },
      &guard);
  server.start(now_ns_);
  elsewhere.emplace(server, lock::LockServer::Peer{0});
  const auto look_everywhere = [&] {
    now_ns_ += kMs;
    look();
    elsewhere->exchange(now_ns_);
    guard.advance(server, now_ns_);
    elsewhere->exchange(now_ns_);
  };
  const auto outside = open();
  ASSERT_TRUE(outside_gets(*outside));
  const lock::Sequence here = ask(0, 0, 10);
  const lock::Claim claim = {pattern::ByteSet::of({0, 10}).value()};
  const lock::Sequence there = elsewhere->side().acquire({.file = "f", .claim = claim}, now_ns_);
  for (int i = 0; i < 10; ++i) look_everywhere();
  EXPECT_FALSE(holds(0, here) || elsewhere->side().holds(there, now_ns_));
  outside_releases(*outside);
  for (int i = 0; i < 10; ++i) look_everywhere();
  const bool first_here = holds(0, here);
  EXPECT_NE(first_here, elsewhere->side().holds(there, now_ns_));
  if (first_here) {
    release(0, here);
  } else {
    elsewhere->side().release(there, now_ns_);
  }
  for (int i = 0; i < 10; ++i) look_everywhere();
  EXPECT_EQ(first_here, elsewhere->side().holds(there, now_ns_));
  EXPECT_NE(first_here, holds(0, here));
}

// (GUARD-3): as long as requests keep coming a daemon does not call advance().
TEST_F(FileGuardTest, RequestsThatKeepComingAreNotGrantedPastTheTurn) {
  start();
  const lock::Claim claim = {pattern::ByteSet::of({0, 10}).value()};
  const auto begin = [&](lock::Ticket ticket, int64_t now_ns) {
    return guard_->begin({.ticket = ticket, .file = path_, .claim = claim}, now_ns);
  };
  EXPECT_EQ(begin(1, 0), lock::Backing::Answer::kYes);
  EXPECT_EQ(begin(2, FileGuard::kTurnNs - 1), lock::Backing::Answer::kYes);
  EXPECT_EQ(begin(3, FileGuard::kTurnNs), lock::Backing::Answer::kLater);
}

// (GUARD-2): what was granted before is reclaimed yet.
TEST_F(FileGuardTest, AfterARestartTheFileIsTakenAtOnceAndKeptForTheGracePeriod) {
  start({.restarted = true, .grace_ns = 500 * kMs});
  look();
  const auto outside = open();
  EXPECT_FALSE(outside_gets(*outside));
  pass(499 * kMs);
  EXPECT_FALSE(outside_gets(*outside));
  pass(2 * kMs);
  EXPECT_TRUE(outside_gets(*outside));
}

TEST_F(FileGuardTest, AFileThatIsDeletedIsKnownAsSuch) {
  start();
  EXPECT_FALSE(guard_->is_deleted());
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  EXPECT_TRUE(guard_->is_deleted());
}

}  // namespace
}  // namespace tessera::daemon
