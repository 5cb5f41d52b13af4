#include "tessera/move/collective.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tessera/lock/no_locks.hpp"
#include "tessera/move/collective_test_support.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::move {
namespace {

using model::Case;
using model::Chance;
using model::Contents;
using model::kMemoryReach;
using model::Played;
using model::Scene;
using model::SharedFile;
using pattern::model::rounds;
using pattern::model::seed;
using pattern::model::seed_note;
using pattern::model::uniform;

constexpr int64_t kFileEnd = 256;
constexpr int kRankCounts[] = {1, 2, 3, 4, 7};

// Interleaved columns of one array, cut somewhere: together they often cover everything.
Pattern column(Chance& chance, int rank, int ranks, int64_t end) {
  const int64_t length = uniform(chance, 0, 1) == 0 ? 8 : 3;
  const int64_t row = length * ranks;
  const Pattern run = Pattern::run({{rank * length}}, length).value();
  return pattern::repeat(run, end / row + 1, {{row}}).value().within({0, end});
}

Pattern block(int rank, int ranks, int64_t end) {
  return Pattern::run({{end * rank / ranks}}, end * (rank + 1) / ranks - end * rank / ranks)
      .value();
}

Hints random_hints(Chance& chance) {
  Hints hints;
  constexpr std::array<int64_t, 5> kBuffers = {36, 100, 200, 500, 1 << 20};
  hints.cb_buffer_size = kBuffers[static_cast<size_t>(uniform(chance, 0, 4))];
  hints.cb_nodes = uniform(chance, 0, 3);
  hints.cb_per_node = uniform(chance, 0, 2);
  hints.ds_write = static_cast<Toggle>(uniform(chance, 0, 2));
  hints.collective = static_cast<CollectiveHint>(uniform(chance, 0, 3));
  return hints;
}

Pattern fitting_memory(Chance& chance, int64_t size) {
  for (;;) {
    Pattern memory = model::random_memory(chance, size);
    if (Interval{-kMemoryReach, kMemoryReach}.contains(memory.span())) return memory;
  }
}

Scene random_scene(Chance& chance, Direction direction, int ranks) {
  Scene scene;
  scene.direction = direction;
  scene.hints = random_hints(chance);
  const int64_t kind = uniform(chance, 0, 3);
  const uint64_t column_seed = chance();
  for (int rank = 0; rank < ranks; ++rank) {
    Case one = model::random_case(chance, direction, kFileEnd);
    Chance same(column_seed);
    if (kind == 1) one.move.file = column(same, rank, ranks, kFileEnd);
    if (kind == 2) one.move.file = block(rank, ranks, kFileEnd);
    if (kind == 3 && rank > 0) one.move.file = scene.ranks[0].move.file;
    if (uniform(chance, 0, 9) == 0) one.move.file = {};
    one.move.memory = fitting_memory(chance, one.move.file.size());
    scene.ranks.push_back(std::move(one));
  }
  // A case that was moved has its memory elsewhere.
  for (Case& rank : scene.ranks) rank.move.base = rank.memory.data() + kMemoryReach;
  if (uniform(chance, 0, 1) == 0) {
    for (int rank = 0; rank < ranks; ++rank) {
      scene.node.push_back(static_cast<int>(uniform(chance, 0, 2)));
    }
  }
  return scene;
}

SharedFile& reset(SharedFile& file, Contents contents) {
  file.contents = std::move(contents);
  file.faults.clear();
  file.transfers = 0;
  file.provided.clear();
  return file;
}

// Every byte has a value that one of its writers gave, or the one it had before.
void expect_written(const Scene& scene, const Contents& before, const Contents& after) {
  const auto given = model::values_given(scene, std::ssize(after));
  for (size_t at = 0; at < after.size(); ++at) {
    const std::byte old = at < before.size() ? before[at] : std::byte{0};
    if (given[at].empty()) {
      ASSERT_EQ(after[at], old) << at;
    } else {
      ASSERT_NE(std::find(given[at].begin(), given[at].end(), after[at]), given[at].end()) << at;
    }
  }
}

TEST(Collective, WritesEveryByteAndNoOther) {
  Chance chance(seed());
  SharedFile file;
  for (int round = 0; round < rounds(1500); ++round) {
    const int ranks = kRankCounts[round % std::ssize(kRankCounts)];
    Scene scene = random_scene(chance, Direction::kWrite, ranks);
    const Contents before = model::random_contents(chance, uniform(chance, 0, kFileEnd));
    reset(file, before);
    file.readable = uniform(chance, 0, 3) != 0;
    model::mark_provided(scene, file, kFileEnd);
    const Played played = model::play(scene, file, 2);
    for (size_t rank = 0; rank < scene.ranks.size(); ++rank) {
      ASSERT_TRUE(played.transfers[rank]) << seed_note(round);
      ASSERT_EQ(played.transfers[rank].bytes, scene.ranks[rank].move.size()) << seed_note(round);
    }
    ASSERT_EQ(std::ssize(file.contents), std::max(std::ssize(before), model::end_of(scene)))
        << seed_note(round);
    expect_written(scene, before, file.contents);
    ASSERT_FALSE(HasFailure()) << seed_note(round);
  }
}

TEST(Collective, ReadsUpToTheEndOfTheFile) {
  Chance chance(seed());
  SharedFile file;
  file.readable = true;
  for (int round = 0; round < rounds(1500); ++round) {
    const int ranks = kRankCounts[round % std::ssize(kRankCounts)];
    Scene scene = random_scene(chance, Direction::kRead, ranks);
    reset(file, model::random_contents(chance, uniform(chance, 0, kFileEnd + 20)));
    std::vector<Contents> expected;
    for (const Case& rank : scene.ranks) {
      const int64_t bytes = model::readable(rank.move, std::ssize(file.contents));
      expected.push_back(model::after_read(rank, file.contents, bytes));
    }
    const Played played = model::play(scene, file);
    for (size_t rank = 0; rank < scene.ranks.size(); ++rank) {
      ASSERT_TRUE(played.transfers[rank]) << seed_note(round);
      ASSERT_EQ(played.transfers[rank].bytes,
                model::readable(scene.ranks[rank].move, std::ssize(file.contents)))
          << seed_note(round) << " rank " << rank;
      ASSERT_EQ(scene.ranks[rank].memory, expected[rank]) << seed_note(round);
    }
  }
}

// (C1)
void expect_one_verdict(const Played& played, int round) {
  const Transfer& first = played.transfers.front();
  for (const Transfer& transfer : played.transfers) {
    ASSERT_EQ(transfer.status.has_value(), first.status.has_value()) << seed_note(round);
    if (first) continue;
    ASSERT_EQ(transfer.status.error().code, first.status.error().code) << seed_note(round);
    ASSERT_EQ(transfer.status.error().errno_value, first.status.error().errno_value);
    ASSERT_EQ(transfer.status.error().context, first.status.error().context) << seed_note(round);
  }
}

// The bytes that a rank counts are in the file.
void expect_prefix_written(const Scene& scene, size_t rank, int64_t bytes, const Contents& file) {
  const auto given = model::values_given(scene, kFileEnd);
  const auto places = pattern::model::positions(scene.ranks[rank].move.file);
  for (size_t i = 0; i < static_cast<size_t>(bytes); ++i) {
    const auto at = static_cast<size_t>(places[i][0]);
    ASSERT_LT(at, file.size());
    ASSERT_NE(std::find(given[at].begin(), given[at].end(), file[at]), given[at].end()) << at;
  }
}

void fail_once(SharedFile& file, Chance& chance) {
  file.faults.assign(static_cast<size_t>(uniform(chance, 0, 12)), 0);
  file.faults.push_back(uniform(chance, 0, 1) == 0 ? EIO : ENOSPC);
}

TEST(Collective, AWriteThatFailsAnywhereFailsEverywhere) {
  Chance chance(seed());
  SharedFile file;
  int failures = 0;
  for (int round = 0; round < rounds(1500); ++round) {
    const int ranks = kRankCounts[round % std::ssize(kRankCounts)];
    Scene scene = random_scene(chance, Direction::kWrite, ranks);
    const Contents before = model::random_contents(chance, uniform(chance, 0, kFileEnd));
    reset(file, before);
    model::mark_provided(scene, file, kFileEnd);
    fail_once(file, chance);
    const Played played = model::play(scene, file);
    expect_one_verdict(played, round);
    const bool struck = file.transfers >= file.faults.size();
    ASSERT_EQ(!played.transfers.front(), struck) << seed_note(round);
    failures += struck ? 1 : 0;
    for (size_t rank = 0; rank < scene.ranks.size(); ++rank) {
      const int64_t bytes = played.transfers[rank].bytes;
      ASSERT_TRUE(struck || bytes == scene.ranks[rank].move.size()) << seed_note(round);
      expect_prefix_written(scene, rank, bytes, file.contents);
    }
    ASSERT_FALSE(HasFailure()) << seed_note(round);
  }
  EXPECT_GT(failures, rounds(1500) / 10);
}

TEST(Collective, AReadThatFailsAnywhereFailsEverywhere) {
  Chance chance(seed());
  SharedFile file;
  int failures = 0;
  for (int round = 0; round < rounds(1500); ++round) {
    const int ranks = kRankCounts[round % std::ssize(kRankCounts)];
    Scene scene = random_scene(chance, Direction::kRead, ranks);
    const std::vector<Case> before = scene.ranks;
    reset(file, model::random_contents(chance, kFileEnd));
    fail_once(file, chance);
    const Played played = model::play(scene, file);
    expect_one_verdict(played, round);
    const bool struck = file.transfers >= file.faults.size();
    ASSERT_EQ(!played.transfers.front(), struck) << seed_note(round);
    failures += struck ? 1 : 0;
    for (size_t rank = 0; rank < scene.ranks.size(); ++rank) {
      const auto memory = pattern::model::positions(before[rank].move.memory);
      const Contents all = model::after_read(before[rank], file.contents, before[rank].move.size());
      for (size_t i = 0; i < static_cast<size_t>(played.transfers[rank].bytes); ++i) {
        const auto at = static_cast<size_t>(kMemoryReach + memory[i][0]);
        ASSERT_EQ(scene.ranks[rank].memory[at], all[at]) << seed_note(round);
      }
    }
  }
  EXPECT_GT(failures, rounds(1500) / 10);
}

TEST(Collective, WhatWentWrongBeforeMovesNothing) {
  Chance chance(seed());
  SharedFile file;
  for (int round = 0; round < rounds(100); ++round) {
    const int ranks = kRankCounts[round % std::ssize(kRankCounts)];
    Scene scene = random_scene(chance, Direction::kWrite, ranks);
    scene.before.resize(static_cast<size_t>(ranks));
    scene.before[static_cast<size_t>(uniform(chance, 0, ranks - 1))] =
        base::fail(base::Code::kInvalid, "a view that makes no sense");
    reset(file, {});
    scene.hints.cb_write = Toggle::kEnable;
    const Played played = model::play(scene, file);
    expect_one_verdict(played, round);
    EXPECT_FALSE(played.transfers.front());
    EXPECT_EQ(played.transfers.front().bytes, 0);
    EXPECT_TRUE(file.contents.empty());
  }
}

// A rank with one run does not wait for the others to find out; all hear of it.
TEST(Collective, WhatWentWrongBeforeIsToldToThoseWhoWentAhead) {
  Scene scene;
  scene.direction = Direction::kWrite;
  for (int64_t rank = 0; rank < 3; ++rank) {
    Case one;
    one.memory.assign(static_cast<size_t>(2 * kMemoryReach), std::byte{1});
    const Pattern run = Pattern::run({{rank * 64}}, 64).value();
    one.move = {Direction::kWrite, run, Pattern::run({{0}}, 64).value(), nullptr};
    scene.ranks.push_back(std::move(one));
  }
  for (Case& rank : scene.ranks) rank.move.base = rank.memory.data() + kMemoryReach;
  scene.before = {{}, base::fail(base::Code::kInvalid, "a view that makes no sense"), {}};
  SharedFile file;
  reset(file, {});
  model::mark_provided(scene, file, model::end_of(scene));
  const Played played = model::play(scene, file);
  expect_one_verdict(played, 0);
  EXPECT_FALSE(played.transfers.front());
  EXPECT_EQ(played.transfers[0].bytes, 64);
  EXPECT_EQ(played.transfers[1].bytes, 0);
  EXPECT_EQ(played.transfers[2].bytes, 64);
  EXPECT_EQ(std::ssize(file.contents), 192);
}

// Windows are the best way to write this once; mappings that stay are, to write it often.
TEST(Collective, RanksThatComeBackGoApart) {
  constexpr int64_t kRuns = 8192;
  constexpr int64_t kRunBytes = 64;
  const port::TestDirectory directory;
  const std::string path = directory.path("file");
  const std::vector<std::byte> content(static_cast<size_t>(2 * kRuns * kRunBytes));
  const port::OpenMode mode = {.read = true, .write = true, .create = true};
  const auto made = port::PlainFile::open(path, mode).value();
  ASSERT_TRUE(made->write_at(0, content));
  if (!made->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  Costs costs;
  costs.rendezvous_ns = 100;
  costs.mapped_fault_ns = 20'000;
  port::run_team(2, [&](port::Team& team) {
    const auto file = port::PlainFile::open(path, mode).value();
    const int64_t begin = team.rank() * kRunBytes;
    const Pattern run = Pattern::run({{begin}}, kRunBytes).value();
    std::vector<std::byte> memory(static_cast<size_t>(kRuns * kRunBytes),
                                  static_cast<std::byte>(1 + team.rank()));
    const Move move = {Direction::kWrite, pattern::repeat(run, kRuns, {{2 * kRunBytes}}).value(),
                       Pattern::run({{0}}, kRuns * kRunBytes).value(), memory.data()};
    Experience experience;
    const Hints hints;
    lock::NoLocks locks;
    std::vector<Engine> engines;
    for (int i = 0; i < 200 && (i == 0 || engines.back() != Engine::kMapped); ++i) {
      Context context = {*file, locks, hints, costs, {}, {}};
      context.experience = &experience;
      ASSERT_TRUE(execute_in_team(move, context, team).status);
      engines.push_back(context.choice.engine);
    }
    EXPECT_EQ(engines.front(), Engine::kWindow);
    EXPECT_EQ(engines.back(), Engine::kMapped);
    EXPECT_GT(engines.size(), 2U);
  });
  std::vector<std::byte> written(content.size());
  ASSERT_EQ(made->read_at(0, written).bytes, std::ssize(written));
  for (size_t i = 0; i < written.size(); ++i) {
    ASSERT_EQ(written[i], static_cast<std::byte>(1 + i / kRunBytes % 2)) << i;
  }
}

// 2^60 bytes between the first and the last, a few hundred dense ones at each of three places.
Pattern sparse(int rank, int ranks) {
  const Pattern run = Pattern::run({{int64_t{rank} * 8}}, 8).value();
  const Pattern dense = pattern::repeat(run, 8, {{int64_t{ranks} * 8}}).value();
  return pattern::repeat(dense, 3, {{int64_t{1} << 59}}).value();
}

Scene sparse_scene(int ranks, Direction direction, CollectiveHint hint) {
  Scene scene;
  scene.direction = direction;
  scene.hints.cb_buffer_size = 200;
  scene.hints.collective = hint;
  for (int rank = 0; rank < ranks; ++rank) {
    Case one;
    one.memory.assign(static_cast<size_t>(2 * kMemoryReach), std::byte{1});
    const Pattern file = sparse(rank, ranks);
    one.move = {direction, file, Pattern::run({{0}}, file.size()).value(), nullptr};
    scene.ranks.push_back(std::move(one));
  }
  for (Case& rank : scene.ranks) rank.move.base = rank.memory.data() + kMemoryReach;
  return scene;
}

TEST(Collective, EmptyDistancesCostNothing) {
  for (const CollectiveHint hint : {CollectiveHint::kWindow, CollectiveHint::kTwoPhase}) {
    Scene scene = sparse_scene(4, Direction::kRead, hint);
    SharedFile file;
    reset(file, Contents(1000, std::byte{7}));
    const Played played = model::play(scene, file);
    for (size_t rank = 0; rank < 4; ++rank) {
      ASSERT_TRUE(played.transfers[rank]);
      EXPECT_EQ(played.transfers[rank].bytes, 64);
      EXPECT_EQ(played.choices[rank].engine,
                hint == CollectiveHint::kWindow ? Engine::kWindow : Engine::kTwoPhase);
    }
    // One for each window with bytes, up to the first that lies behind the end.
    EXPECT_LE(file.transfers, 24U);
  }
}

}  // namespace
}  // namespace tessera::move
