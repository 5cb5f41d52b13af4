// The conformance suite: what exchange.hpp promises, alone and among threads.
#include "tessera/port/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <string>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_exchange.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::port {
namespace {

using base::Bytes;
using base::bytes_of;
using base::Code;

Bytes text(const std::string& content) { return base::copy_of(bytes_of(content)); }

// The parameter is the number of ranks; 0 stands for SelfExchange.
class ExchangeConformance : public ::testing::TestWithParam<int> {
 protected:
  static void run(const std::function<void(Exchange&)>& rank_main) {
    if (GetParam() > 0) {
      run_ranks(GetParam(), rank_main);
    } else {
      SelfExchange self;
      rank_main(self);
    }
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
  std::atomic<int> arrived = 0;
  run([&](Exchange& exchange) {
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      ASSERT_TRUE(exchange.barrier());
      EXPECT_GE(arrived.load(), round * exchange.size());
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

INSTANTIATE_TEST_SUITE_P(Ranks, ExchangeConformance, ::testing::Values(0, 1, 2, 4, 7));

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

TEST(ThreadExchange, E3ARankThatLeavesFailsTheOthers) {
  run_ranks(4, [](Exchange& exchange) {
    ASSERT_TRUE(exchange.barrier());
    if (exchange.rank() == 2) return;
    const auto gathered = exchange.all_gather({});
    ASSERT_FALSE(gathered);
    EXPECT_EQ(gathered.error().context, "rank 2 has left");
    EXPECT_FALSE(exchange.barrier());
    EXPECT_FALSE(exchange.agree({}));
  });
}

TEST(ThreadExchange, E3ACallThatAllRanksMadeSucceedsAlsoWhenOneLeavesAtOnce) {
  for (int round = 0; round < 200; ++round) {
    run_ranks(3, [](Exchange& exchange) { EXPECT_TRUE(exchange.all_max(1)); });
  }
}

TEST(ThreadExchange, E1DifferentCallsAreAnErrorForAll) {
  run_ranks(3, [](Exchange& exchange) {
    const auto result =
        exchange.rank() == 1 ? exchange.broadcast(0, {}) : exchange.broadcast(1, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::kInvalid);
    EXPECT_NE(result.error().context.find("broadcast with root 0"), std::string::npos);
    EXPECT_NE(result.error().context.find("broadcast with root 1"), std::string::npos);
    EXPECT_FALSE(exchange.barrier());
  });
}

}  // namespace
}  // namespace tessera::port
