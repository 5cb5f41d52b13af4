#include "tessera/lock/claim_board.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>

#include "tessera/lock/board_file.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/model_test_support.hpp"
#include "tessera/port/seeded_random.hpp"

namespace tessera::lock {
namespace {

namespace model = pattern::model;

Claim claim_on(int64_t begin, int64_t end, Mode mode = Mode::kExclusive) {
  return {pattern::ByteSet::of({begin, end}).value(), mode};
}

BoardClaim asked_for(const Claim& claim, SessionId session = 1, Sequence sequence = 1) {
  return {session, sequence, claim.mode, pattern::encode(claim.bytes.ascending())};
}

class ClaimBoardTest : public ::testing::Test {
 protected:
  std::unique_ptr<BoardSeat> seat(size_t desk) {
    return std::make_unique<BoardSeat>(*memory_, desk, nullptr);
  }
  static std::optional<BoardSeat::Place> claim(BoardSeat& seat, const Claim& claim) {
    return seat.claim(asked_for(claim), claim);
  }
  bool post(Ticket ticket, const Claim& claim) {
    return keeper_.post({ticket, asked_for(claim)}, claim);
  }

  const std::unique_ptr<BoardMemory> memory_ = std::make_unique<BoardMemory>();
  BoardKeeper keeper_{*memory_, 7};
};

TEST_F(ClaimBoardTest, B1WhatConflictsIsNotGranted) {
  ASSERT_TRUE(keeper_.open({}));
  const auto one = seat(0);
  const auto other = seat(5);
  const auto held = claim(*one, claim_on(0, 10));
  ASSERT_TRUE(held);
  EXPECT_FALSE(claim(*other, claim_on(9, 20, Mode::kShared)));
  EXPECT_FALSE(claim(*one, claim_on(9, 20)));
  EXPECT_TRUE(claim(*other, claim_on(10, 20)));
  EXPECT_FALSE(post(1, claim_on(0, 1)));
  EXPECT_TRUE(one->release(*held));
  EXPECT_TRUE(post(1, claim_on(0, 1)));
  EXPECT_FALSE(claim(*one, claim_on(0, 10)));
  keeper_.unpost(1);
  EXPECT_TRUE(claim(*one, claim_on(0, 10)));
  EXPECT_EQ(keeper_.use().granted, 3U);
  EXPECT_EQ(keeper_.use().claimed, 2U);
}

TEST_F(ClaimBoardTest, SharedClaimsStandSideBySide) {
  ASSERT_TRUE(keeper_.open({{1, asked_for(claim_on(0, 10, Mode::kShared))}}));
  const auto one = seat(0);
  const auto other = seat(1);
  EXPECT_TRUE(claim(*one, claim_on(0, 10, Mode::kShared)));
  EXPECT_TRUE(claim(*other, claim_on(5, 15, Mode::kShared)));
  EXPECT_FALSE(claim(*other, claim_on(5, 6)));
}

TEST_F(ClaimBoardTest, B2ClosingFindsWhatIsHeld) {
  const auto one = seat(3);
  EXPECT_FALSE(claim(*one, claim_on(0, 10)));
  ASSERT_TRUE(keeper_.open({}));
  const Claim wanted = claim_on(0, 10);
  const auto held = one->claim(asked_for(wanted, 77, 5), wanted);
  ASSERT_TRUE(held && one->undisturbed(*held));
  const auto found = keeper_.close();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].session, 77U);
  EXPECT_EQ(found[0].sequence, 5U);
  EXPECT_TRUE(base::equal(found[0].bytes, asked_for(wanted).bytes));
  EXPECT_FALSE(one->undisturbed(*held));
  EXPECT_FALSE(claim(*one, claim_on(50, 60)));
  // (B3): reopened, the old claim counts only where the server has put it.
  ASSERT_TRUE(keeper_.open({}));
  EXPECT_TRUE(claim(*seat(4), claim_on(0, 10)));
  EXPECT_FALSE(one->release(*held));
}

// The board is closed at each step of a claim in turn, and open again or not when it goes on. What
// the server has not found is not granted; the control grants it.
TEST_F(ClaimBoardTest, B2WhatIsGrantedWasFoundWheneverTheBoardIsClosed) {
  int overlooked = 0;
  for (int variant = 0; variant < 16; ++variant) {
    const bool looks_again = variant % 2 == 0;
    const bool reopens = variant % 4 >= 2;
    ASSERT_TRUE(keeper_.open({}));
    int steps = variant / 4;
    std::optional<size_t> found;
    const auto between = [&] {
      if (steps-- != 0) return;
      found = keeper_.close().size();
      if (reopens) static_cast<void>(keeper_.open({}));
    };
    BoardSeat one(*memory_, 0, nullptr, {between, looks_again});
    const bool granted = claim(one, claim_on(0, 10)).has_value();
    ASSERT_TRUE(found);
    EXPECT_FALSE(granted && looks_again);
    if (granted && *found == 0) ++overlooked;
    if (keeper_.is_open()) static_cast<void>(keeper_.close());
  }
  EXPECT_EQ(overlooked, 6);
}

TEST_F(ClaimBoardTest, WhatDoesNotFitIsLeftToTheServer) {
  ASSERT_TRUE(keeper_.open({}));
  pattern::Assembler<1> irregular;
  for (int64_t i = 0; i < 300; ++i) irregular.append_run({{i * i * 7}}, 1 + i % 5);
  const Claim large = {pattern::ByteSet::of(irregular.finish().value()).value()};
  ASSERT_GT(asked_for(large).bytes.size(), kBoardPatternBytesMax);
  const auto one = seat(0);
  EXPECT_FALSE(claim(*one, large));
  EXPECT_FALSE(post(1, large));
  for (int64_t i = 0; i < static_cast<int64_t>(kDeskSlots); ++i) {
    EXPECT_TRUE(claim(*one, claim_on(i, i + 1)));
  }
  EXPECT_FALSE(claim(*one, claim_on(100, 101)));
  static_cast<void>(keeper_.close());
  EXPECT_FALSE(keeper_.open({{1, asked_for(large)}}));
  EXPECT_TRUE(keeper_.open({}));
  Ticket ticket = 0;
  while (post(++ticket, claim_on(1000, 1001, Mode::kShared))) {
  }
  EXPECT_EQ(ticket, kServerDesks * kDeskSlots + 1);
}

// (B3): the desk of one that was killed is taken over when its claim counts no more.
TEST_F(ClaimBoardTest, TheDeskOfADeadClientIsClearOnceTheBoardWasClosed) {
  ASSERT_TRUE(keeper_.open({}));
  ASSERT_TRUE(claim(*seat(0), claim_on(0, 10)));
  EXPECT_FALSE(desk_is_clear(*memory_, 0));
  EXPECT_FALSE(claim(*seat(1), claim_on(0, 10)));
  EXPECT_EQ(keeper_.close().size(), 1U);
  EXPECT_TRUE(desk_is_clear(*memory_, 0));
  ASSERT_TRUE(keeper_.open({}));
  EXPECT_TRUE(desk_is_clear(*memory_, 0));
  EXPECT_TRUE(claim(*seat(0), claim_on(0, 10)));
}

TEST(BoardFile, IsFoundByThoseWhoKnowItsPlace) {
  port::SeededRandom random(1);
  const auto file = BoardFile::create("f", random).value();
  ASSERT_TRUE(file->keeper().open({}));
  const auto one = open_board(file->place()).value();
  const auto held = one->claim(asked_for(claim_on(0, 1)), claim_on(0, 1));
  EXPECT_TRUE(held);
  {
    const auto other = open_board(file->place()).value();
    EXPECT_FALSE(other->claim(asked_for(claim_on(0, 1)), claim_on(0, 1)));
    EXPECT_TRUE(other->claim(asked_for(claim_on(2, 3)), claim_on(2, 3)));
  }
  // Its desk is free again, but what it has left there still counts.
  const auto third = open_board(file->place()).value();
  EXPECT_FALSE(third->claim(asked_for(claim_on(2, 3)), claim_on(2, 3)));
  EXPECT_EQ(file->keeper().close().size(), 2U);
  BoardAt elsewhere = file->place();
  elsewhere.token ^= 2;
  EXPECT_FALSE(open_board(elsewhere));
  elsewhere = file->place();
  elsewhere.descriptor = 1;
  EXPECT_FALSE(open_board(elsewhere));
}

TEST(BoardFile, HasSoManyDesks) {
  port::SeededRandom random(1);
  const auto file = BoardFile::create("f", random).value();
  std::vector<std::unique_ptr<BoardSeat>> seats;
  for (size_t i = 0; i < kClientDesks; ++i) seats.push_back(open_board(file->place()).value());
  EXPECT_EQ(open_board(file->place()).error().code, base::Code::kRetry);
  seats.erase(seats.begin() + 9);
  EXPECT_TRUE(open_board(file->place()));
}

void fill_with_garbage(BoardMemory& memory, size_t desk, uint64_t generation,
                       model::Engine& engine) {
  for (size_t slot = 0; slot < kDeskSlots; ++slot) {
    BoardBody& body = memory.bodies[slot][desk];
    for (BoardWord* word : {&body.session, &body.sequence, &body.begin, &body.end}) {
      *word = engine();
    }
    body.size = model::uniform(engine, 0, 2) == 0 ? engine() : engine() % 40;
    // Few bits, as in patterns.
    for (BoardWord& word : body.pattern) word = engine() & 0x0301'0701'030f'0103;
    const auto state = static_cast<SlotWord::State>(engine() % 4);
    memory.desks[desk].words[slot] =
        SlotWord{generation, static_cast<uint32_t>(engine()), true, state}.packed();
  }
}

// (B4)
TEST_F(ClaimBoardTest, GarbageHarmsNobody) {
  model::Engine engine(model::seed());
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(model::seed()));
  const auto one = seat(200);
  const Claim wanted = claim_on(0, pattern::kMaxPosition);
  for (int round = 0; round < model::rounds(200); ++round) {
    ASSERT_TRUE(keeper_.open({}));
    memory_->client_desks = engine();
    for (size_t desk = 0; desk < 4; ++desk) {
      fill_with_garbage(*memory_, desk, memory_->open, engine);
    }
    if (const auto held = claim(*one, wanted)) one->release(*held);
    static_cast<void>(post(1, wanted));
    EXPECT_LE(keeper_.close().size(), 5 * kDeskSlots);
  }
}

// --- against an oracle

// What stands on the board, as positions.
struct Standing {
  size_t desk = 0;
  BoardSeat::Place place = {};
  Ticket ticket = 0;  // of a post
  Claim claim;
  BoardClaim asked;
  std::set<int64_t> bytes;
};

class BoardModel {
 public:
  explicit BoardModel(uint64_t seed) : engine_(seed) {
    for (size_t desk = 0; desk < 3; ++desk) {
      seats_.push_back(std::make_unique<BoardSeat>(*memory_, desk * 2, nullptr));
    }
  }

  void step() {
    switch (model::uniform(engine_, 0, 9)) {
      case 0:
        keeper_.is_open() ? close() : open();
        break;
      case 1:
      case 2:
        post();
        break;
      case 3:
      case 4:
      case 5:
        drop();
        break;
      default:
        claim();
        break;
    }
    const size_t claims = static_cast<size_t>(
        std::count_if(all_.begin(), all_.end(), [](const Standing& s) { return s.ticket == 0; }));
    EXPECT_EQ(keeper_.use().claimed, keeper_.is_open() ? claims : 0);
  }

 private:
  Standing random_standing() {
    Standing next;
    const auto mode = model::uniform(engine_, 0, 2) == 0 ? Mode::kShared : Mode::kExclusive;
    next.claim = {model::random_set(engine_).shifted(100).value(), mode};
    next.asked = asked_for(next.claim, 1, ++sequence_);
    for (const auto& at : model::positions(next.claim.bytes.ascending())) next.bytes.insert(at[0]);
    return next;
  }

  bool is_free(const Standing& next) const {
    return std::none_of(all_.begin(), all_.end(), [&](const Standing& other) {
      const auto common = [&](int64_t byte) { return other.bytes.contains(byte); };
      return conflict(next.claim.mode, other.claim.mode) &&
             std::any_of(next.bytes.begin(), next.bytes.end(), common);
    });
  }

  void claim() {
    Standing next = random_standing();
    if (next.claim.bytes.empty()) return;
    next.desk = static_cast<size_t>(model::uniform(engine_, 0, 2));
    const auto used = std::count_if(all_.begin(), all_.end(), [&](const Standing& other) {
      return other.ticket == 0 && other.desk == next.desk;
    });
    const bool may = keeper_.is_open() && used < int64_t{kDeskSlots} && is_free(next);
    const auto place = seats_[next.desk]->claim(next.asked, next.claim);
    ASSERT_EQ(place.has_value(), may);
    if (!place) return;
    next.place = *place;
    all_.push_back(next);
  }

  void post() {
    Standing next = random_standing();
    // The server looks at its own locks in its table.
    const auto is_post = [](const Standing& other) { return other.ticket != 0; };
    if (next.claim.bytes.empty() || !keeper_.is_open()) return;
    if (!is_free(next) && std::any_of(all_.begin(), all_.end(), is_post)) return;
    next.ticket = ++ticket_;
    const bool posted = keeper_.post({next.ticket, next.asked}, next.claim);
    ASSERT_EQ(posted, is_free(next));
    if (posted) all_.push_back(next);
  }

  void drop() {
    if (all_.empty()) return;
    const auto at = std::next(all_.begin(), model::uniform(engine_, 0, int64_t(all_.size()) - 1));
    if (at->ticket != 0) {
      keeper_.unpost(at->ticket);
    } else {
      EXPECT_TRUE(seats_[at->desk]->undisturbed(at->place));
      EXPECT_TRUE(seats_[at->desk]->release(at->place));
    }
    all_.erase(at);
  }

  // All claims become posts of the next board.
  void close() {
    std::set<Sequence> found;
    for (const BoardClaim& claim : keeper_.close()) found.insert(claim.sequence);
    std::set<Sequence> expected;
    for (Standing& standing : all_) {
      if (standing.ticket != 0) continue;
      expected.insert(standing.asked.sequence);
      EXPECT_FALSE(seats_[standing.desk]->release(standing.place));
      standing.ticket = ++ticket_;
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(memory_->open, 0U);
  }

  void open() {
    std::vector<BoardKeeper::Post> held;
    for (const Standing& standing : all_) held.push_back({standing.ticket, standing.asked});
    EXPECT_TRUE(keeper_.open(held));
  }

  model::Engine engine_;
  const std::unique_ptr<BoardMemory> memory_ = std::make_unique<BoardMemory>();
  BoardKeeper keeper_{*memory_, 1};
  std::vector<std::unique_ptr<BoardSeat>> seats_;
  std::list<Standing> all_;
  Sequence sequence_ = 0;
  Ticket ticket_ = 0;
};

TEST(ClaimBoard, GrantsWhatAnOracleGrants) {
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(model::seed()));
  for (uint64_t world = 0; world < 20; ++world) {
    BoardModel board(model::seed() + world);
    for (int i = 0; i < model::rounds(500) && !::testing::Test::HasFailure(); ++i) board.step();
  }
}

}  // namespace
}  // namespace tessera::lock
