// The conformance suite: what exchange.hpp promises, alone, among threads and processes.
#include "tessera/port/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <string>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_exchange.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/test_processes.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/port/thread_exchange.hpp"
#include "tessera/port/thread_team.hpp"

namespace tessera::port {
namespace {

using base::Bytes;
using base::bytes_of;
using base::Code;

Bytes text(const std::string& content) { return base::copy_of(bytes_of(content)); }

enum class Kind { kSelf, kThreads, kSelfTeam, kThreadTeam, kProcessTeam };

struct Setting {
  Kind kind;
  int ranks;
};

void run_setting(const Setting& setting, const std::function<void(Exchange&)>& rank_main) {
  switch (setting.kind) {
    case Kind::kSelf: {
      SelfExchange self;
      return rank_main(self);
    }
    case Kind::kSelfTeam: {
      SelfTeam self;
      return rank_main(self);
    }
    case Kind::kThreads:
      return run_ranks(setting.ranks, rank_main);
    case Kind::kThreadTeam:
      return run_team(setting.ranks, rank_main);
    case Kind::kProcessTeam:
      return run_process_team(setting.ranks, rank_main);
  }
}

std::string kind_name(Kind kind) {
  constexpr const char* kNames[] = {"Self", "Threads", "SelfTeam", "ThreadTeam", "ProcessTeam"};
  return kNames[static_cast<int>(kind)];
}

std::string setting_name(const ::testing::TestParamInfo<Setting>& setting) {
  return kind_name(setting.param.kind) + std::to_string(setting.param.ranks);
}

class ExchangeConformance : public ::testing::TestWithParam<Setting> {
 protected:
  static void run(const std::function<void(Exchange&)>& rank_main) {
    run_setting(GetParam(), rank_main);
  }
};

TEST_P(ExchangeConformance, AllToAllTransposes) {
  run([](Exchange& exchange) {
    std::vector<Bytes> outgoing;
    for (int to = 0; to < exchange.size(); ++to) {
      outgoing.push_back(text(std::to_string(exchange.rank()) + ">" + std::to_string(to)));
    }
    const auto incoming = exchange.all_to_all(std::move(outgoing)).value();
    ASSERT_EQ(incoming.size(), static_cast<size_t>(exchange.size()));
    for (int from = 0; from < exchange.size(); ++from) {
      EXPECT_EQ(incoming[static_cast<size_t>(from)],
                text(std::to_string(from) + ">" + std::to_string(exchange.rank())));
    }
  });
}

TEST_P(ExchangeConformance, GathersComeByRank) {
  run([](Exchange& exchange) {
    std::vector<Bytes> expected;
    for (int rank = 0; rank < exchange.size(); ++rank)
      expected.push_back(text(std::to_string(rank)));
    const Bytes mine = text(std::to_string(exchange.rank()));
    EXPECT_EQ(exchange.all_gather(mine).value(), expected);
    const int root = exchange.size() - 1;
    const auto gathered = exchange.gather(root, mine).value();
    EXPECT_EQ(gathered, exchange.rank() == root ? expected : std::vector<Bytes>());
  });
}

TEST_P(ExchangeConformance, ListeningIsGatheringNothing) {
  run([](Exchange& exchange) {
    const bool speaks = exchange.rank() == exchange.size() - 1;
    EXPECT_TRUE(exchange.listen().value().empty());
    const auto nothing = speaks ? exchange.all_gather({}) : exchange.listen();
    EXPECT_EQ(nothing.value().size(), speaks ? static_cast<size_t>(exchange.size()) : 0);
    for (const size_t bytes : {size_t{1}, size_t{1000}, size_t{200'000}}) {
      std::vector<Bytes> expected(static_cast<size_t>(exchange.size()));
      expected.back() = Bytes(bytes, std::byte{7});
      const auto heard = speaks ? exchange.all_gather(expected.back()) : exchange.listen();
      EXPECT_EQ(heard.value(), expected);
    }
  });
}

TEST_P(ExchangeConformance, BroadcastAndMaximum) {
  run([](Exchange& exchange) {
    for (int root = 0; root < exchange.size(); ++root) {
      const Bytes value = text("from " + std::to_string(exchange.rank()));
      EXPECT_EQ(exchange.broadcast(root, value).value(), text("from " + std::to_string(root)));
    }
    const auto mine = static_cast<uint64_t>(exchange.rank() * 7 % 5);
    uint64_t largest = 0;
    for (int rank = 0; rank < exchange.size(); ++rank) {
      largest = std::max(largest, static_cast<uint64_t>(rank * 7 % 5));
    }
    EXPECT_EQ(exchange.all_max(mine).value(), largest);
  });
}

TEST_P(ExchangeConformance, E2BarrierWaitsForAll) {
  const SharedByChildren<std::atomic<int>> arrived;
  run([&](Exchange& exchange) {
    for (int round = 1; round <= 50; ++round) {
      ++*arrived;
      ASSERT_TRUE(exchange.barrier());
      EXPECT_GE(arrived->load(), round * exchange.size());
      ASSERT_TRUE(exchange.barrier());
    }
  });
}

TEST_P(ExchangeConformance, E4AllSucceedTogether) {
  run([](Exchange& exchange) { EXPECT_TRUE(exchange.agree({})); });
}

TEST_P(ExchangeConformance, E4OneFailureIsEverybodys) {
  run([](Exchange& exchange) {
    const int guilty = exchange.size() / 2;
    const base::Result<void> failed = base::fail_errno(ENOSPC, "write tile");
    const auto verdict = exchange.agree(exchange.rank() == guilty ? failed : base::Result<void>());
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().code, Code::kFailed);
    EXPECT_EQ(verdict.error().errno_value, ENOSPC);
    const std::string prefix = exchange.size() > 1 ? "rank " + std::to_string(guilty) + ": " : "";
    EXPECT_EQ(verdict.error().context, prefix + "write tile");
    EXPECT_TRUE(exchange.agree({}));
  });
}

TEST_P(ExchangeConformance, E4RandomVerdictsAreTheSameEverywhere) {
  const uint64_t seed = test_seed();
  run([seed](Exchange& exchange) {
    SeededRandom random(seed + static_cast<uint64_t>(exchange.rank()));
    constexpr Code kCodes[] = {Code::kFailed, Code::kRetry, Code::kIntegrity, Code::kDenied};
    for (int round = 0; round < 50; ++round) {
      base::Result<void> mine;
      if (random.chance(1, 3)) mine = base::fail(kCodes[random.uniform(4)], "reason");
      const auto verdict = exchange.agree(mine);
      EXPECT_TRUE(mine || !verdict);
      const Bytes told = text(verdict ? "ok" : verdict.error().context);
      const auto all_told = exchange.all_gather(told).value();
      for (const Bytes& other : all_told) ASSERT_EQ(other, told);
    }
  });
}

// Random bytes, of a size that is empty, small, around the steps of the implementations, or, about
// once in a matrix, several megabytes.
Bytes random_bytes(Random& random, uint64_t ranks) {
  constexpr uint64_t kSizes[] = {0, 1, 480, 496, 497, 512, 65'535, 65'536, 65'537, 131'072};
  uint64_t size = 0;
  switch (random.uniform(4)) {
    case 0:
      size = kSizes[random.uniform(std::size(kSizes))];
      break;
    case 1:
      size = random.uniform(600);
      break;
    case 2:
      size = random.uniform(200'000) / ranks;
      break;
    default:
      size = random.chance(4, 4 + ranks * ranks) ? random.uniform(4'000'000) : 0;
      break;
  }
  Bytes bytes(size);
  random.fill(bytes);
  return bytes;
}

// What rank `from` gives to rank `to`.
using Matrix = std::vector<std::vector<Bytes>>;

Matrix random_matrix(Random& random, int ranks) {
  Matrix matrix(static_cast<size_t>(ranks));
  for (auto& row : matrix) {
    for (int to = 0; to < ranks; ++to) {
      row.push_back(random_bytes(random, static_cast<uint64_t>(ranks)));
    }
  }
  return matrix;
}

// Every rank draws the same contributions of all ranks, so it knows what it has to get.
TEST_P(ExchangeConformance, E2RandomContributionsArriveWhole) {
  const uint64_t seed = test_seed();
  run([seed](Exchange& exchange) {
    SeededRandom random(seed);
    const auto me = static_cast<size_t>(exchange.rank());
    for (int round = 0; round < 1 + 8 / exchange.size(); ++round) {
      const Matrix matrix = random_matrix(random, exchange.size());
      const auto root = static_cast<int>(random.uniform(static_cast<uint64_t>(exchange.size())));
      std::vector<Bytes> column;
      std::vector<Bytes> first;
      for (const auto& row : matrix) {
        column.push_back(row[me]);
        first.push_back(row[0]);
      }
      ASSERT_EQ(exchange.all_to_all(matrix[me]).value(), column);
      ASSERT_EQ(exchange.all_gather(first[me]).value(), first);
      const auto gathered = exchange.gather(root, first[me]).value();
      ASSERT_EQ(gathered, exchange.rank() == root ? first : std::vector<Bytes>());
      ASSERT_EQ(exchange.broadcast(root, first[me]).value(), first[static_cast<size_t>(root)]);
      std::vector<uint64_t> numbers;
      for (int rank = 0; rank < exchange.size(); ++rank) numbers.push_back(random.next());
      ASSERT_EQ(exchange.all_max(numbers[me]).value(),
                *std::max_element(numbers.begin(), numbers.end()));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, ExchangeConformance,
                         ::testing::Values(Setting{Kind::kSelf, 1}, Setting{Kind::kThreads, 1},
                                           Setting{Kind::kThreads, 2}, Setting{Kind::kThreads, 4},
                                           Setting{Kind::kThreads, 7}, Setting{Kind::kSelfTeam, 1},
                                           Setting{Kind::kThreadTeam, 4},
                                           Setting{Kind::kProcessTeam, 1},
                                           Setting{Kind::kProcessTeam, 2},
                                           Setting{Kind::kProcessTeam, 7}),
                         setting_name);

TEST(Exchange, E4TheWorstErrorWinsThenTheLowestRank) {
  run_ranks(4, [](Exchange& exchange) {
    constexpr Code kGiven[] = {Code::kRetry, Code::kIntegrity, Code::kIntegrity, Code::kFailed};
    const auto verdict = exchange.agree(base::fail(kGiven[exchange.rank()], "x"));
    EXPECT_EQ(verdict.error().code, Code::kIntegrity);
    EXPECT_EQ(verdict.error().context, "rank 1: x");
  });
}

TEST(Exchange, LongSentencesAreCutForAll) {
  run_ranks(2, [](Exchange& exchange) {
    const auto verdict = exchange.agree(base::fail(Code::kFailed, std::string(100'000, 'x')));
    EXPECT_EQ(verdict.error().context, "rank 0: " + std::string(1024, 'x'));
  });
}

// What is promised where there is more than one rank.
class ExchangeOfSeveral : public ::testing::TestWithParam<Kind> {};

TEST_P(ExchangeOfSeveral, E3ARankThatLeavesFailsTheOthers) {
  run_setting({GetParam(), 4}, [](Exchange& exchange) {
    ASSERT_TRUE(exchange.barrier());
    if (exchange.rank() == 2) return;
    const auto gathered = exchange.all_gather({});
    ASSERT_FALSE(gathered);
    EXPECT_EQ(gathered.error().context, "rank 2 has left");
    EXPECT_FALSE(exchange.listen());
    EXPECT_FALSE(exchange.barrier());
    EXPECT_FALSE(exchange.agree({}));
  });
}

TEST_P(ExchangeOfSeveral, E3ACallThatAllRanksMadeSucceedsAlsoWhenOneLeavesAtOnce) {
  const int rounds = GetParam() == Kind::kProcessTeam ? 10 : 100;  // processes start slowly
  for (int round = 0; round < rounds; ++round) {
    run_setting({GetParam(), 3}, [](Exchange& exchange) { EXPECT_TRUE(exchange.all_max(1)); });
  }
}

TEST_P(ExchangeOfSeveral, E1DifferentCallsAreAnErrorForAll) {
  run_setting({GetParam(), 3}, [](Exchange& exchange) {
    const auto result =
        exchange.rank() == 1 ? exchange.broadcast(0, {}) : exchange.broadcast(1, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::kInvalid);
    EXPECT_NE(result.error().context.find("broadcast with root 0"), std::string::npos);
    EXPECT_NE(result.error().context.find("broadcast with root 1"), std::string::npos);
    EXPECT_FALSE(exchange.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExchangeOfSeveral,
                         ::testing::Values(Kind::kThreads, Kind::kThreadTeam, Kind::kProcessTeam),
                         [](const ::testing::TestParamInfo<Kind>& kind) {
                           return kind_name(kind.param);
                         });

}  // namespace
}  // namespace tessera::port
