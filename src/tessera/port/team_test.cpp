// What team.hpp promises beyond exchange.hpp, whose rules exchange_test.cpp holds, on every team.
#include "tessera/port/team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/test_processes.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/port/thread_team.hpp"

namespace tessera::port {
namespace {

enum class Kind { kSelf, kThreads, kProcesses };

class TeamConformance : public ::testing::TestWithParam<Kind> {
 protected:
  static void run(const std::function<void(Team&)>& rank_main) {
    constexpr int kRanks = 4;
    switch (GetParam()) {
      case Kind::kSelf: {
        SelfTeam self;
        return rank_main(self);
      }
      case Kind::kThreads:
        return run_team(kRanks, rank_main);
      case Kind::kProcesses:
        return run_process_team(kRanks, rank_main);
    }
  }
};

bool all_zero(base::ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{}; });
}

TEST_P(TeamConformance, M1MemoryIsCommonAndStartsAtZero) {
  run([](Team& team) {
    const auto memory = team.common_memory(10'000).value();
    ASSERT_GE(memory.size(), 10'000U);
    ASSERT_TRUE(all_zero(memory));
    ASSERT_TRUE(team.barrier());
    memory[static_cast<size_t>(team.rank())] = static_cast<std::byte>(team.rank() + 1);
    ASSERT_TRUE(team.barrier());
    for (int rank = 0; rank < team.size(); ++rank) {
      EXPECT_EQ(memory[static_cast<size_t>(rank)], static_cast<std::byte>(rank + 1));
    }
  });
}

// Each rank writes what its neighbour reads after any collective call.
TEST_P(TeamConformance, M2WritesAreSeenAfterEveryCollectiveCall) {
  run([](Team& team) {
    const auto memory = team.common_memory(int64_t{8} * team.size()).value();
    const auto ranks = static_cast<size_t>(team.size());
    const auto me = static_cast<size_t>(team.rank());
    const std::function<bool()> calls[] = {
        [&] { return team.barrier().has_value(); },
        [&] { return team.all_gather({}).has_value(); },
        [&] { return team.all_max(1).has_value(); },
        [&] { return team.gather(0, {}).has_value(); },
        [&] { return team.broadcast(0, {}).has_value(); },
        [&] { return team.all_to_all(std::vector<base::Bytes>(ranks)).has_value(); }};
    for (uint64_t round = 0; round < 60; ++round) {
      base::store_le<uint64_t>(memory.subspan(me * 8), round * 100 + me);
      ASSERT_TRUE(calls[round % std::size(calls)]());
      for (size_t rank = 0; rank < ranks; ++rank) {
        ASSERT_EQ(base::load_le<uint64_t>(memory.subspan(rank * 8)), round * 100 + rank);
      }
      ASSERT_TRUE(team.barrier());
    }
  });
}

TEST_P(TeamConformance, M1MemoryKeepsItsContentsWhereItGrows) {
  const uint64_t seed = test_seed();
  run([seed](Team& team) {
    SeededRandom random(seed);
    std::vector<std::byte> model;
    for (int64_t size = 1; size < 6'000'000; size = size * 9 + 3) {
      const auto memory = team.common_memory(size).value();
      ASSERT_GE(memory.size(), static_cast<size_t>(size));
      ASSERT_TRUE(base::equal(memory.first(model.size()), model));
      ASSERT_TRUE(all_zero(memory.subspan(model.size())));
      model.resize(memory.size());
      ASSERT_TRUE(team.barrier());
      for (int i = 0; i < 40; ++i) {
        const size_t place = random.uniform(model.size());
        model[place] = static_cast<std::byte>(random.next());
        // The ranks take turns.
        if (i % team.size() == team.rank()) memory[place] = model[place];
        ASSERT_TRUE(team.barrier());
      }
    }
  });
}

TEST_P(TeamConformance, LessMemoryThanThereIsMeetsNobody) {
  run([](Team& team) {
    const auto memory = team.common_memory(1 << 20).value();
    if (team.rank() == 0) {
      const auto again = team.common_memory(100).value();
      EXPECT_EQ(again.data(), memory.data());
      EXPECT_EQ(again.size(), memory.size());
    }
    ASSERT_TRUE(team.barrier());
  });
}

TEST_P(TeamConformance, NoMemoryIsAlsoASize) {
  run([](Team& team) { EXPECT_TRUE(team.common_memory(0)); });
}

std::string kind_name(const ::testing::TestParamInfo<Kind>& kind) {
  constexpr const char* kNames[] = {"Self", "Threads", "Processes"};
  return kNames[static_cast<int>(kind.param)];
}

INSTANTIATE_TEST_SUITE_P(Teams, TeamConformance,
                         ::testing::Values(Kind::kSelf, Kind::kThreads, Kind::kProcesses),
                         kind_name);

}  // namespace
}  // namespace tessera::port
