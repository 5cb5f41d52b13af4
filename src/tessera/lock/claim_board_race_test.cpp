// Claim boards whose users run at once, are stopped and are killed, at any instruction.
//
// Whoever is granted a claim marks its bytes, looks whether somebody else has marked them, and
// takes the marks away before it releases the claim. A keeper opens and closes the board all the
// time, and while it is closed takes locks itself, of bytes that nobody has whom it has found.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/lock/claim_board.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/model_test_support.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/quiet_thread.hpp"
#include "tessera/port/test_processes.hpp"

namespace tessera::lock {
namespace {

namespace model = pattern::model;

constexpr size_t kWorkers = 3;
constexpr size_t kServer = kWorkers;  // its row of marks
constexpr int64_t kBytes = 24;
constexpr int64_t kMs = 1'000'000;

// All that they share. Zeroed memory is a closed board without marks.
struct Arena {
  BoardMemory board;
  std::array<std::array<std::atomic<uint8_t>, kBytes>, kWorkers + 1> marks;
  std::array<std::atomic<uint64_t>, kWorkers> done;  // the last claim that is over
  std::atomic<int64_t> granted;
  std::atomic<int64_t> violations;
  std::atomic<bool> stop;
};

Claim random_claim(model::Engine& engine) {
  const int64_t begin = model::uniform(engine, 0, kBytes - 1);
  const int64_t end = model::uniform(engine, begin + 1, std::min(kBytes, begin + 12));
  const auto mode = model::uniform(engine, 0, 3) == 0 ? Mode::kShared : Mode::kExclusive;
  return {pattern::ByteSet::of({begin, end}).value(), mode};
}

BoardClaim asked_for(const Claim& claim, SessionId session, Sequence sequence) {
  return {session, sequence, claim.mode, pattern::encode(claim.bytes.ascending())};
}

void mark(Arena& arena, size_t who, const Claim& claim, bool on) {
  const auto value = static_cast<uint8_t>(!on ? 0 : claim.mode == Mode::kShared ? 1 : 2);
  const auto span = claim.bytes.span();
  for (int64_t byte = span.begin; byte < span.end; ++byte) {
    arena.marks[who][static_cast<size_t>(byte)] = value;
  }
}

// Of two who mark and then look, one at least sees the other.
void use(Arena& arena, size_t who, const Claim& claim) {
  mark(arena, who, claim, true);
  const auto span = claim.bytes.span();
  for (size_t other = 0; other < arena.marks.size(); ++other) {
    if (other == who) continue;
    for (int64_t byte = span.begin; byte < span.end; ++byte) {
      const uint8_t theirs = arena.marks[other][static_cast<size_t>(byte)];
      if (theirs == 2 || (theirs == 1 && claim.mode == Mode::kExclusive)) ++arena.violations;
    }
  }
  // Others have a chance to find the marks.
  ::sched_yield();
  mark(arena, who, claim, false);
}

void work(Arena& arena, size_t who, SessionId session, bool looks_again, uint64_t seed) {
  model::Engine engine(seed);
  // Anything may happen between two steps, also where there are few cores.
  const auto between = [&engine] {
    if (model::uniform(engine, 0, 3) == 0) ::sched_yield();
  };
  BoardSeat seat(arena.board, who, nullptr, {between, looks_again});
  while (!arena.stop) {
    const Sequence sequence = arena.done[who] + 1;
    const Claim claim = random_claim(engine);
    if (const auto place = seat.claim(asked_for(claim, session, sequence), claim)) {
      use(arena, who, claim);
      seat.release(*place);
      ++arena.granted;
    }
    // What would be a message: whatever the server has found of this claim is over.
    arena.done[who] = sequence;
    if (model::uniform(engine, 0, 7) == 0) ::sched_yield();
  }
}

// The server: what it finds on the board stays its client's until that is done with it.
class Keeper {
 public:
  Keeper(Arena& arena, uint64_t seed) : arena_(arena), engine_(seed) {}

  // The sessions that live, by the worker whose they are.
  std::array<SessionId, kWorkers> sessions = {};

  void round() {
    std::vector<BoardKeeper::Post> posts;
    for (const Found& found : found_) posts.push_back({++ticket_, found.asked});
    ASSERT_TRUE(keeper_.open(posts));
    for (int i = 0; i < model::uniform(engine_, 0, 3); ++i) {
      post();
      ::sched_yield();
    }
    close();
    grant();
  }

  void close() {
    for (BoardClaim& asked : keeper_.close()) {
      found_.push_back({asked, decode_claim(asked.bytes, asked.mode).value()});
    }
    std::erase_if(found_, [&](const Found& found) { return is_over(found); });
  }
  [[nodiscard]] bool is_open() const { return keeper_.is_open(); }

 private:
  struct Found {
    BoardClaim asked;
    Claim claim;
  };

  [[nodiscard]] bool is_over(const Found& found) const {
    const auto at = std::find(sessions.begin(), sessions.end(), found.asked.session);
    if (at == sessions.end()) return true;
    return arena_.done[static_cast<size_t>(at - sessions.begin())] >= found.asked.sequence;
  }

  [[nodiscard]] bool is_free(const Claim& claim) const {
    return std::none_of(found_.begin(), found_.end(), [&](const Found& found) {
      return conflict(found.claim.mode, claim.mode) && may_overlap(found.claim.bytes, claim.bytes);
    });
  }

  void post() {
    const Claim claim = random_claim(engine_);
    if (!is_free(claim) || !keeper_.post({++ticket_, asked_for(claim, 999, 1)}, claim)) return;
    use(arena_, kServer, claim);
    keeper_.unpost(ticket_);
  }

  void grant() {
    for (int i = 0; i < 4; ++i) {
      const Claim claim = random_claim(engine_);
      if (is_free(claim)) use(arena_, kServer, claim);
    }
  }

  Arena& arena_;
  model::Engine engine_;
  BoardKeeper keeper_{arena_.board, 1};
  std::vector<Found> found_;
  Ticket ticket_ = 0;
};

// Rounds of so many, or until something is violated.
void run_threads(Arena& arena, bool looks_again, int rounds_max, int64_t for_ns) {
  const port::PosixClock clock;
  const int64_t end_ns = clock.now_ns() + for_ns;
  Keeper keeper(arena, model::seed());
  std::vector<port::QuietThread> threads;
  for (size_t who = 0; who < kWorkers; ++who) {
    keeper.sessions[who] = who + 1;
    threads.emplace_back([&arena, who, looks_again] {
      work(arena, who, who + 1, looks_again, model::seed() + who);
    });
  }
  for (int i = 0; i < rounds_max && clock.now_ns() < end_ns && arena.violations == 0; ++i) {
    keeper.round();
  }
  arena.stop = true;
  for (auto& thread : threads) thread.join();
}

TEST(ClaimBoardRace, B1B2AmongThreads) {
  const auto arena = std::make_unique<Arena>();
  run_threads(*arena, true, model::rounds(10'000), 2000 * kMs * model::rounds(1));
  EXPECT_EQ(arena->violations, 0);
  EXPECT_GT(arena->granted, 100);
}

TEST(ClaimBoardRace, ControlWhoDoesNotLookAgainIsOverlooked) {
  const auto arena = std::make_unique<Arena>();
  run_threads(*arena, false, 100'000'000, 30'000 * kMs);
  EXPECT_GT(arena->violations, 0);
}

// Workers that are processes, each at its own desk.
class Workers {
 public:
  Workers(Arena& arena, Keeper& keeper) : arena_(arena), keeper_(keeper) {
    for (size_t who = 0; who < kWorkers; ++who) start(who);
  }
  ~Workers() {
    for (size_t who = 0; who < kWorkers; ++who) kill_one(who);
  }

  // The board is closed then, so that the desk of the last one is clear.
  void start(size_t who) {
    ASSERT_FALSE(keeper_.is_open());
    const SessionId session = ++lives_;
    keeper_.sessions[who] = session;
    children_[who] = ::fork();
    if (children_[who] != 0) return;
    work(arena_, who, session, true, model::seed() + session);
    ::_exit(0);
  }
  void kill_one(size_t who) {
    ::kill(children_[who], SIGKILL);
    ::waitpid(children_[who], nullptr, 0);
    keeper_.sessions[who] = 0;
    for (auto& byte : arena_.marks[who]) byte = 0;
  }
  void signal(size_t who, int number) { ::kill(children_[who], number); }

 private:
  Arena& arena_;
  Keeper& keeper_;
  std::array<pid_t, kWorkers> children_ = {};
  SessionId lives_ = 0;
};

// (B3)
TEST(ClaimBoardRace, ProcessesAreKilledAndStoppedAnywhere) {
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(model::seed()));
  const port::SharedByChildren<Arena> arena;
  Keeper keeper(*arena, model::seed());
  model::Engine engine(model::seed() + 100);
  Workers workers(*arena, keeper);
  for (int i = 0; i < model::rounds(150); ++i) {
    const auto who = static_cast<size_t>(model::uniform(engine, 0, kWorkers - 1));
    ::usleep(static_cast<useconds_t>(model::uniform(engine, 0, 1000)));
    const bool kills = model::uniform(engine, 0, 1) == 0;
    kills ? workers.kill_one(who) : workers.signal(who, SIGSTOP);
    for (int k = 0; k < 20; ++k) keeper.round();
    kills ? workers.start(who) : workers.signal(who, SIGCONT);
    keeper.round();
  }
  EXPECT_EQ(arena->violations, 0);
  EXPECT_GT(arena->granted, 100);
}

}  // namespace
}  // namespace tessera::lock
