// NodeExchange against a flat exchange of the same ranks, in many shapes of nodes.
#include "tessera/mpiio/node_exchange.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::mpiio {
namespace {

using base::Bytes;
using port::Exchange;
using port::SeededRandom;
using port::ThreadExchange;
using Nodes = std::vector<std::vector<int>>;
using Owned = std::unique_ptr<ThreadExchange>;

int ranks_of(const Nodes& nodes) {
  int ranks = 0;
  for (const auto& node : nodes) ranks += static_cast<int>(node.size());
  return ranks;
}

// The exchanges below a NodeExchange, for every rank, until the rank takes its own.
class Ground {
 public:
  explicit Ground(Nodes nodes)
      : nodes_(std::move(nodes)),
        teams_(static_cast<size_t>(ranks_of(nodes_))),
        leaders_(teams_.size()) {
    auto leaders = ThreadExchange::make_group(static_cast<int>(nodes_.size()));
    for (size_t n = 0; n < nodes_.size(); ++n) {
      auto team = ThreadExchange::make_group(static_cast<int>(nodes_[n].size()));
      leaders_[static_cast<size_t>(nodes_[n][0])] = std::move(leaders[n]);
      for (size_t i = 0; i < nodes_[n].size(); ++i) {
        teams_[static_cast<size_t>(nodes_[n][i])] = std::move(team[i]);
      }
    }
  }

  // Runs a function for every rank, with a flat exchange of all and the one that is tested. A rank
  // leaves everything when its function returns.
  void run(const std::function<void(Exchange&, NodeExchange&)>& rank_main) {
    port::run_ranks(ranks_of(nodes_), [&](Exchange& flat) {
      const auto rank = static_cast<size_t>(flat.rank());
      const Owned team = std::move(teams_[rank]);
      const Owned leaders = std::move(leaders_[rank]);
      NodeExchange tested({flat.rank(), nodes_}, *team, leaders.get());
      rank_main(flat, tested);
    });
  }

 private:
  Nodes nodes_;
  std::vector<Owned> teams_;
  std::vector<Owned> leaders_;
};

Bytes random_message(SeededRandom& random) {
  constexpr uint64_t kSizes[] = {0, 0, 1, 7, 200, 70000};
  Bytes message(kSizes[random.uniform(6)]);
  for (std::byte& each : message) each = static_cast<std::byte>(random.uniform(256));
  return message;
}

std::vector<Bytes> random_messages(SeededRandom& random, int count) {
  std::vector<Bytes> messages;
  for (int i = 0; i < count; ++i) messages.push_back(random_message(random));
  return messages;
}

class NodeExchangeShapes : public ::testing::TestWithParam<Nodes> {};

// One random operation, the same on all ranks, on both exchanges.
void compare_once(SeededRandom& common, SeededRandom& own, Exchange& flat, Exchange& tested) {
  const int root = static_cast<int>(common.uniform(static_cast<uint64_t>(flat.size())));
  switch (common.uniform(6)) {
    case 0: {
      const auto outgoing = random_messages(own, flat.size());
      EXPECT_EQ(tested.all_to_all(outgoing).value(), flat.all_to_all(outgoing).value());
      break;
    }
    case 1: {
      const Bytes mine = random_message(own);
      EXPECT_EQ(tested.all_gather(mine).value(), flat.all_gather(mine).value());
      break;
    }
    case 2: {
      const Bytes mine = random_message(own);
      EXPECT_EQ(tested.gather(root, mine).value(), flat.gather(root, mine).value());
      break;
    }
    case 3: {
      const Bytes value = random_message(own);
      EXPECT_EQ(tested.broadcast(root, value).value(), flat.broadcast(root, value).value());
      break;
    }
    case 4: {
      const uint64_t mine = own.next();
      EXPECT_EQ(tested.all_max(mine).value(), flat.all_max(mine).value());
      break;
    }
    default: {
      base::Result<void> mine;
      if (own.chance(1, 3)) mine = base::fail(base::Code::kDenied, "not this one");
      const auto verdict = tested.agree(mine);
      const auto expected = flat.agree(mine);
      ASSERT_EQ(verdict.has_value(), expected.has_value());
      if (!verdict) {
        EXPECT_EQ(verdict.error().message(), expected.error().message());
      }
    }
  }
}

TEST_P(NodeExchangeShapes, AnswersAsAFlatExchange) {
  const uint64_t seed = port::test_seed();
  Ground(GetParam()).run([seed](Exchange& flat, NodeExchange& tested) {
    ASSERT_EQ(tested.rank(), flat.rank());
    ASSERT_EQ(tested.size(), flat.size());
    SeededRandom common(seed);
    SeededRandom own(seed + 1 + static_cast<uint64_t>(flat.rank()));
    for (int i = 0; i < 100; ++i) compare_once(common, own, flat, tested);
  });
}

TEST_P(NodeExchangeShapes, E2BarrierWaitsForAll) {
  std::atomic<int> arrived = 0;
  Ground(GetParam()).run([&](Exchange& flat, NodeExchange& tested) {
    for (int round = 1; round <= 20; ++round) {
      ++arrived;
      ASSERT_TRUE(tested.barrier());
      EXPECT_GE(arrived.load(), round * flat.size());
      ASSERT_TRUE(tested.barrier());
    }
  });
}

// Every rank in turn goes away before the second call; the calls of all others then fail, and so do
// all later ones.
TEST_P(NodeExchangeShapes, E3ARankThatLeavesStrandsNobody) {
  const int size = ranks_of(GetParam());
  if (size == 1) return;
  for (int guilty = 0; guilty < size; ++guilty) {
    Ground(GetParam()).run([&](Exchange& flat, NodeExchange& tested) {
      EXPECT_TRUE(tested.barrier());
      if (flat.rank() == guilty) return;
      const std::vector<Bytes> outgoing(static_cast<size_t>(size), Bytes(3));
      EXPECT_FALSE(guilty % 2 == 0 ? tested.all_to_all(outgoing) : tested.all_gather(Bytes(3)));
      EXPECT_FALSE(tested.broadcast(0, Bytes(1)));
      EXPECT_FALSE(tested.gather(0, Bytes(1)));
      EXPECT_FALSE(tested.all_max(1));
      EXPECT_FALSE(tested.barrier());
    });
  }
}

TEST_P(NodeExchangeShapes, E3EveryCallNoticesARankThatLeft) {
  const int size = ranks_of(GetParam());
  if (size == 1) return;
  for (int call = 0; call < 4; ++call) {
    Ground(GetParam()).run([&](Exchange& flat, NodeExchange& tested) {
      const int guilty = size - 1;
      if (flat.rank() == guilty) return;
      if (call == 0) {
        EXPECT_FALSE(tested.gather(guilty, Bytes(1)));
      }
      if (call == 1) {
        EXPECT_FALSE(tested.broadcast(guilty, Bytes(1)));
      }
      if (call == 2) {
        EXPECT_FALSE(tested.all_max(1));
      }
      if (call == 3) {
        EXPECT_FALSE(tested.barrier());
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, NodeExchangeShapes,
                         ::testing::Values(Nodes{{0}}, Nodes{{2, 0, 1}}, Nodes{{0}, {1}},
                                           Nodes{{0, 1}, {2, 3}}, Nodes{{0, 2}, {1, 3}},
                                           Nodes{{3, 1}, {0, 2, 4}}, Nodes{{4}, {0, 1, 2, 3}},
                                           Nodes{{6, 0, 3}, {1}, {5, 2}, {4}}));

}  // namespace
}  // namespace tessera::mpiio
