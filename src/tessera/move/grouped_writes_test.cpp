#include "tessera/move/grouped_writes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tessera/move/test_moves.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::move {
namespace {

constexpr int64_t kEnd = 200;

Move write_of(const Pattern& file, const Pattern& memory) {
  return {Direction::kWrite, file, memory, nullptr};
}

// The pairs (position in the file, position in memory) of a move, byte by byte.
std::vector<std::pair<int64_t, int64_t>> pairs_of(const Move& move) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < move.size(); ++i) {
    pairs.emplace_back(move.file.position(i)[0], move.memory.position(i)[0]);
  }
  return pairs;
}

// One write of all ranks. (G1), and each share pairs the bytes as its move does.
void expect_shares(const std::vector<Move>& moves, const std::vector<Move>& shares) {
  std::map<int64_t, int> held;
  std::map<int64_t, int> written;
  for (size_t rank = 0; rank < moves.size(); ++rank) {
    const auto whole = pairs_of(moves[rank]);
    const std::map<int64_t, int64_t> places(whole.begin(), whole.end());
    for (const auto& [at, memory] : whole) ++held[at];
    for (const auto& [at, memory] : pairs_of(shares[rank])) {
      ++written[at];
      ASSERT_TRUE(places.contains(at)) << "byte " << at << " is not in the move of rank " << rank;
      EXPECT_EQ(places.at(at), memory);
    }
  }
  EXPECT_EQ(held.size(), written.size());
  for (const auto& [at, times] : written) EXPECT_EQ(times, 1) << "byte " << at;
}

// Ranks that write again and again, each with a GroupedWrites of its own.
class Ranks {
 public:
  explicit Ranks(int count, owner::Policy policy = owner::Policy::kOptimal)
      : policy_(policy), grouped_(static_cast<size_t>(count)) {}

  std::vector<Move> write(const std::vector<Move>& moves) {
    std::vector<Move> shares(moves.size());
    port::run_ranks(static_cast<int>(moves.size()), [&](port::Exchange& exchange) {
      const auto rank = static_cast<size_t>(exchange.rank());
      const auto write = [&](const Move& share, const base::Result<void>& before) {
        shares[rank] = share;
        return Transfer{share.size(), exchange.agree(before)};
      };
      const Transfer done = grouped_[rank].execute(moves[rank], {}, policy_, exchange, write);
      EXPECT_TRUE(done) << done.status.error().message();
      EXPECT_EQ(done.bytes, moves[rank].size());
      EXPECT_EQ(grouped_[rank].share_bytes().value_or(moves[rank].size()), shares[rank].size());
    });
    return shares;
  }

 private:
  const owner::Policy policy_;
  std::vector<GroupedWrites> grouped_;
};

std::vector<Move> random_moves(model::Chance& chance, int ranks) {
  std::vector<Move> moves;
  for (int rank = 0; rank < ranks; ++rank) {
    const Pattern file = model::random_file(chance, kEnd);
    moves.push_back(write_of(file, model::random_places(chance, file.size())));
  }
  return moves;
}

TEST(GroupedWrites, EveryByteIsWrittenOnce) {
  model::Chance chance(port::test_seed());
  for (int round = 0; round < 300; ++round) {
    const auto ranks = static_cast<int>(model::random::uniform(chance, 1, 5));
    constexpr owner::Policy kPolicies[] = {owner::Policy::kOptimal, owner::Policy::kIdg,
                                           owner::Policy::kBalanced, owner::Policy::kFirst};
    Ranks group(ranks, kPolicies[round % 4]);
    const std::vector<Move> moves = random_moves(chance, ranks);
    expect_shares(moves, group.write(moves));
  }
}

// What a grouping serves again for: the same bytes, the same at a distance, other memory; and what
// it must not serve for: other bytes, or ranks that moved by different distances. Rounds in which
// nothing changes let ranks expect that nothing does.
TEST(GroupedWrites, TheLastGroupingServesWhereItSuits) {
  model::Chance chance(port::test_seed());
  for (int round = 0; round < 200; ++round) {
    const auto ranks = static_cast<int>(model::random::uniform(chance, 1, 4));
    Ranks group(ranks);
    std::vector<Move> moves = random_moves(chance, ranks);
    for (int turn = 0; turn < 10; ++turn) {
      const bool changes = model::random::uniform(chance, 0, 2) == 0;
      const int64_t common = changes ? model::random::uniform(chance, 0, 1) * 1000 : 0;
      for (Move& move : moves) {
        if (!changes) continue;
        const bool apart = model::random::uniform(chance, 0, 9) == 0;
        move.file = move.file.shifted({{common + (apart ? 7 : 0)}}).value();
        if (model::random::uniform(chance, 0, 3) == 0) {
          move.memory = model::random_places(chance, move.size());
        }
        if (model::random::uniform(chance, 0, 9) == 0) {
          move.file = model::random_file(chance, kEnd);
          move.memory = model::random_places(chance, move.size());
        }
      }
      expect_shares(moves, group.write(moves));
    }
  }
}

TEST(GroupedWrites, SharesMayBeEven) {
  const Pattern all = Pattern::run({{0}}, 8 << 20).value();
  const std::vector<Move> moves = {write_of(all, all), write_of(all, all)};
  const auto even = Ranks(2, owner::Policy::kBalanced).write(moves);
  EXPECT_NEAR(static_cast<double>(even[0].size()), 4 << 20, 0.1 * (4 << 20));
  const auto by_one = Ranks(2, owner::Policy::kFirst).write(moves);
  EXPECT_EQ(by_one[0].size() + by_one[1].size(), 8 << 20);
  EXPECT_EQ(std::min(by_one[0].size(), by_one[1].size()), 0);
}

TEST(GroupedWrites, LongRunsBeatEvenShares) {
  const Pattern all = Pattern::run({{0}}, 100).value();
  const Pattern half = Pattern::run({{0}}, 50).value();
  Ranks group(2);
  const std::vector<Move> shares = group.write({write_of(half, half), write_of(all, all)});
  EXPECT_EQ(shares[0].size(), 0);
  EXPECT_EQ(shares[1].file.runs(), 1);
  EXPECT_EQ(shares[1].size(), 100);
}

}  // namespace
}  // namespace tessera::move
