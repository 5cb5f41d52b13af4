#include <gtest/gtest.h>

#include "tessera/move/independent.hpp"
#include "tessera/pattern/assembler.hpp"

namespace tessera::move {
namespace {

constexpr FileFacts kRemote;
constexpr FileFacts kLocal = {.mappable = true};
constexpr FileFacts kNew = {.mappable = true, .size = 0};

Pattern strided(int64_t length, int64_t stride, int64_t count) {
  return pattern::repeat(Pattern::run({{0}}, length).value(), count, {{stride}}).value();
}

Move move_of(Direction direction, const Pattern& file) {
  return {direction, file, Pattern::run({{0}}, file.size()).value(), nullptr};
}

Engine engine_for(Direction direction, const Pattern& file, const FileFacts& facts,
                  const base::KeyValue& hint = {}) {
  const Hints hints = Hints::parse({"", {}, {hint}}).value();
  return choose_independent(move_of(direction, file), hints, Costs(), facts).engine;
}

const Pattern& dense() {
  static const Pattern pattern = strided(8, 32, 100'000);
  return pattern;
}

TEST(Choose, OneRunIsMovedDirectly) {
  const Pattern run = Pattern::run({{5}}, 1 << 20).value();
  for (const char* engine : {"automatic", "list", "sieve"}) {
    EXPECT_EQ(engine_for(Direction::kRead, run, kLocal, {"tessera_engine", engine}),
              Engine::kDirect);
  }
  EXPECT_EQ(engine_for(Direction::kRead, run, kLocal, {"tessera_engine", "mapped"}),
            Engine::kMapped);
  EXPECT_EQ(engine_for(Direction::kWrite, Pattern(), kRemote), Engine::kDirect);
}

TEST(Choose, DenseRunsAreMappedWhereThatIsPossibleAndSievedElsewhere) {
  EXPECT_EQ(engine_for(Direction::kRead, dense(), kLocal), Engine::kMapped);
  EXPECT_EQ(engine_for(Direction::kWrite, dense(), kLocal), Engine::kMapped);
  EXPECT_EQ(engine_for(Direction::kWrite, dense(), kNew), Engine::kMapped);
  EXPECT_EQ(engine_for(Direction::kRead, dense(), kRemote), Engine::kSieve);
  EXPECT_EQ(engine_for(Direction::kWrite, dense(), kRemote), Engine::kSieve);
}

TEST(Choose, RunsFarApartAreListed) {
  const Pattern sparse = strided(8, 1 << 22, 1000);
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    EXPECT_EQ(engine_for(direction, sparse, kLocal), Engine::kList);
    EXPECT_EQ(engine_for(direction, sparse, kRemote), Engine::kList);
  }
  EXPECT_EQ(engine_for(Direction::kWrite, strided(1 << 16, 1 << 18, 100), kNew), Engine::kList);
}

// Large pages make up for the gaps that come with them where there are not too many.
TEST(Choose, NewPagesAreLargeWhereTheyAreFilled) {
  const auto price = [](const Pattern& file, const FileFacts& facts) {
    return price_independent(move_of(Direction::kWrite, file), Costs(), facts, false);
  };
  const Pattern rows = strided(7680, 4 * 7680, 2000);
  const FileFacts alone = {.mappable = true, .size = 0};
  const FileFacts among_four = {.mappable = true, .size = 0, .companions = 4};
  EXPECT_EQ(price(rows, among_four).engine, Engine::kMapped);
  const FileFacts holes = {.mappable = true, .hole_share = 1, .companions = 4};
  EXPECT_DOUBLE_EQ(price(rows, holes).ns, price(rows, among_four).ns)
      << "somebody extended the file before";
  const Pattern sparse = strided(8, 4096, 2000);
  EXPECT_GT(price(sparse, alone).ns, 2000 * Costs().mapped_new_page_ns);
  const FileFacts among_many = {.mappable = true, .size = 0, .companions = 64};
  EXPECT_LT(price(sparse, among_many).ns, 2000 * Costs().mapped_new_page_ns);
}

// Two dense parts with a desert between them: the span alone would speak against moving gaps.
TEST(Choose, GapsAreJudgedOneByOne) {
  pattern::Assembler<1> parts;
  parts.append(dense());
  parts.append(dense().shifted({{int64_t{1} << 40}}).value());
  const Pattern file = parts.finish().value();
  EXPECT_EQ(engine_for(Direction::kRead, file, kRemote), Engine::kSieve);
  EXPECT_EQ(engine_for(Direction::kRead, file, kLocal), Engine::kMapped);
}

TEST(Choose, HintsOverrule) {
  const auto write = [](const base::KeyValue& hint, const FileFacts& facts) {
    return engine_for(Direction::kWrite, dense(), facts, hint);
  };
  EXPECT_EQ(write({"romio_ds_write", "disable"}, kRemote), Engine::kList);
  EXPECT_EQ(write({"romio_ds_write", "disable"}, kLocal), Engine::kMapped);
  EXPECT_EQ(write({"romio_ds_write", "enable"}, kLocal), Engine::kSieve);
  EXPECT_EQ(write({"romio_ds_read", "disable"}, kRemote), Engine::kSieve);
  EXPECT_EQ(write({"tessera_engine", "list"}, kLocal), Engine::kList);
  EXPECT_EQ(write({"tessera_engine", "sieve"}, kLocal), Engine::kSieve);
  EXPECT_EQ(write({"tessera_engine", "mapped"}, kRemote), Engine::kSieve);
  EXPECT_EQ(
      engine_for(Direction::kRead, strided(8, 1 << 22, 1000), kLocal, {"tessera_engine", "mapped"}),
      Engine::kMapped);
}

// Writers by system calls take turns; a mapping that is cheap to fault lets them write at once.
TEST(Choose, LongWritesOfManyAreMappedWherePagesAreCheap) {
  const Pattern run = Pattern::run({{0}}, 64 << 20).value();
  const auto engine = [&](const FileFacts& facts) {
    return engine_for(Direction::kWrite, run, facts);
  };
  const FileFacts cheap = {.mappable = true, .page_ns = 60, .companions = 4};
  EXPECT_EQ(engine(cheap), cores_for(4) > 1 ? Engine::kMapped : Engine::kDirect);
  FileFacts other = cheap;
  other.page_ns = 1200;
  EXPECT_EQ(engine(other), Engine::kDirect);
  other = cheap;
  other.companions = 1;
  EXPECT_EQ(engine(other), Engine::kDirect);
  other = cheap;
  other.cached = false;
  EXPECT_EQ(engine(other), Engine::kDirect);
  other = cheap;
  other.size = 0;
  EXPECT_EQ(engine(other), Engine::kDirect);
}

// Rows of 7680 B take 1.7 us each by list, more than half of it for naming them and their pages.
TEST(Choose, RowsOfATileAreReadThroughPagesThatCostALittle) {
  const Pattern rows = strided(7680, 27'360, 1650);
  FileFacts facts = {.mappable = true, .page_ns = 100, .companions = 16};
  EXPECT_EQ(engine_for(Direction::kRead, rows, facts), Engine::kMapped);
  facts.page_ns = 400;
  EXPECT_EQ(engine_for(Direction::kRead, rows, facts), Engine::kList);
}

// A long read through large pages costs no more than by system calls, and less the next time.
TEST(Choose, LongReadsAreMappedWherePagesAreCheap) {
  const Pattern run = Pattern::run({{0}}, 32 << 20).value();
  FileFacts facts = {.mappable = true, .page_ns = 55};
  EXPECT_EQ(engine_for(Direction::kRead, run, facts), Engine::kMapped);
  facts.page_ns = 500;
  EXPECT_EQ(engine_for(Direction::kRead, run, facts), Engine::kDirect);
  facts = {.mappable = true, .cached = false, .page_ns = 55};
  EXPECT_EQ(engine_for(Direction::kRead, run, facts), Engine::kDirect);
}

// What is moved again and again is mapped once that would have paid.
// The system's copy is slow where it begins inside a cache line, unless all of it is in the caches.
TEST(Choose, LongReadsToMemoryInsideALineAreMapped) {
  const auto engine = [](int64_t bytes, int64_t first) {
    Move move = move_of(Direction::kRead, Pattern::run({{0}}, bytes).value());
    move.memory = Pattern::run({{first}}, bytes).value();
    const FileFacts small_pages = {.mappable = true, .page_ns = 160};
    return choose_independent(move, Hints(), Costs(), small_pages).engine;
  };
  EXPECT_EQ(engine(64 << 20, 0), Engine::kDirect);
  EXPECT_EQ(engine(64 << 20, 64), Engine::kDirect);
  EXPECT_EQ(engine(64 << 20, 16), Engine::kMapped);
  EXPECT_EQ(engine(4 << 20, 16), Engine::kDirect);
}

TEST(Choose, WhatComesBackIsMappedInTheEnd) {
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    for (const Pattern& file :
         {Pattern::run({{0}}, 8 << 20).value(), strided(16'384, 65'536, 64)}) {
      const Move move = move_of(direction, file);
      FileFacts facts = {.mappable = true, .page_ns = 3000};
      Choice choice = choose_independent(move, Hints(), Costs(), facts);
      EXPECT_NE(choice.engine, Engine::kMapped);
      EXPECT_GT(choice.missed_ns, 0);
      int times = 1;
      for (; choice.engine != Engine::kMapped && times < 1000; ++times) {
        facts.missed_ns += choice.missed_ns;
        choice = choose_independent(move, Hints(), Costs(), facts);
      }
      EXPECT_GT(times, 2);
      EXPECT_LT(times, 1000);
      EXPECT_EQ(choice.missed_ns, 0);
      facts = {.mappable = true, .kept = true};
      EXPECT_EQ(choose_independent(move, Hints(), Costs(), facts).engine, Engine::kMapped);
      facts.cached = false;
      if (direction == Direction::kRead) {
        EXPECT_NE(choose_independent(move, Hints(), Costs(), facts).engine, Engine::kMapped);
      }
    }
  }
}

// Short runs are moved by system calls, however often.
TEST(Choose, ShortRunsAreNeverMapped) {
  const Pattern file = Pattern::run({{0}}, kMappedRunMin - 1).value();
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    for (const FileFacts& facts :
         {FileFacts{.mappable = true}, FileFacts{.mappable = true, .missed_ns = 1e9}}) {
      const Choice choice = choose_independent(move_of(direction, file), Hints(), Costs(), facts);
      EXPECT_EQ(choice.engine, Engine::kDirect);
      EXPECT_EQ(choice.missed_ns, 0);
    }
  }
}

// A mapping that holds only some of it would have to be set up anew each time.
TEST(Choose, WhatNoMappingHoldsWholeMissesNothing) {
  const FileFacts facts = {.mappable = true, .page_ns = 3000};
  for (const Pattern& file : {strided(8, 1 << 22, 1000), strided(1 << 16, 1 << 18, 1000),
                              Pattern::run({{0}}, 65 << 20).value()}) {
    EXPECT_EQ(
        choose_independent(move_of(Direction::kRead, file), Hints(), Costs(), facts).missed_ns, 0);
  }
}

// A page that has to come from the disk is read whole by a fault; where a run fills it, in vain.
TEST(Choose, WhatIsNotInMemoryIsNotMappedInVain) {
  const FileFacts cold = {.mappable = true, .cached = false};
  EXPECT_EQ(engine_for(Direction::kRead, dense(), cold), Engine::kSieve);
  EXPECT_EQ(engine_for(Direction::kWrite, dense(), cold), Engine::kMapped);
  EXPECT_EQ(engine_for(Direction::kWrite, strided(8192, 16384, 1000), cold), Engine::kList);
}

TEST(Choose, PricesTellWhoTakesTurns) {
  const Move move = move_of(Direction::kWrite, dense());
  EXPECT_FALSE(price_independent(move, Costs(), kLocal, true).takes_turns);
  const Price sieved = price_independent(move, Costs(), kRemote, true);
  const Price listed = price_independent(move, Costs(), kRemote, false);
  EXPECT_EQ(sieved.engine, Engine::kSieve);
  EXPECT_EQ(listed.engine, Engine::kList);
  EXPECT_TRUE(sieved.takes_turns && listed.takes_turns);
  EXPECT_LT(sieved.ns, listed.ns);
  EXPECT_FALSE(
      price_independent(move_of(Direction::kRead, dense()), Costs(), kRemote, true).takes_turns);
  EXPECT_EQ(price_independent(move_of(Direction::kWrite, Pattern()), Costs(), kRemote, true).ns, 0);
}

TEST(Choose, SaysWhy) {
  Costs costs;
  costs.listed_ns = costs.request_ns = 1000;
  costs.listed_page_ns = 0;
  costs.read_byte_ns = 1;
  costs.copy_byte_ns = costs.copy_run_ns = 0;
  const Choice choice =
      choose_independent(move_of(Direction::kRead, strided(8, 32, 131'072)), Hints(), costs);
  EXPECT_EQ(choice.engine, Engine::kSieve);
  EXPECT_EQ(choice.reason,
            "131072 runs of 8 bytes fill 25 % of 4.0 MiB: 4.2 ms against 131.6 ms by list");
}

}  // namespace
}  // namespace tessera::move
