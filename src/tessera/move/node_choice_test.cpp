#include "tessera/move/node_choice.hpp"

#include <gtest/gtest.h>

#include "tessera/move/collective_test_support.hpp"
#include "tessera/move/two_phase.hpp"

namespace tessera::move {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;

const std::vector<int> kFourNodes = {0, 0, 1, 1, 2, 2, 3, 3};

Price turn(double ns) { return {Engine::kList, ns, true}; }

// Eight ranks whose bytes interleave, `bytes` in all, which ask for `price` each.
Picture picture_of(int64_t bytes, const Price& price, const Costs& costs, int64_t cb_nodes = 0) {
  constexpr int64_t kRanks = 8;
  Policy policy;
  policy.costs = costs;
  policy.cores = 2;
  policy.cb_buffer_size = 16 * kMegabyte;
  policy.cb_per_node = 1;
  policy.cb_nodes = cb_nodes;
  std::vector<base::Bytes> messages;
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    Summary summary = {.failed = false,
                       .span = {rank, bytes - kRanks + 1 + rank},
                       .bytes = bytes / kRanks,
                       .runs = bytes / kRanks,
                       .memory_runs = 1,
                       .alone = price,
                       .gapless = price,
                       .pattern = {}};
    messages.push_back(encode(summary, policy));
  }
  return move::picture_of(messages).value();
}

WayChoice way_of(const Picture& picture) {
  return choose_way_across_nodes({picture, kFourNodes, Direction::kWrite});
}

int64_t aggregators_for(const Picture& picture) {
  return count_aggregators({picture, kFourNodes, Direction::kWrite});
}

// Few bytes are gathered by one; many use the links and the writers of all nodes.
TEST(NodeChoice, TheAmountDecidesHowManyGather) {
  Costs costs;
  costs.nodes_served = 4;
  EXPECT_EQ(aggregators_for(picture_of(800, turn(1e9), costs)), 1);
  EXPECT_EQ(aggregators_for(picture_of(64 * kMegabyte, turn(1e9), costs)), 4);
  // However slow the file system: where it serves one node at a time, only links can gain.
  Costs narrow;
  narrow.network_byte_ns = 0;
  narrow.copy_byte_ns = narrow.copy_run_ns = 0;
  EXPECT_EQ(aggregators_for(picture_of(3 * kMegabyte, turn(1e9), narrow)), 1);
}

TEST(NodeChoice, HintsSayHowManyGather) {
  EXPECT_EQ(aggregators_for(picture_of(800, turn(1e9), {}, 3)), 3);
  EXPECT_EQ(aggregators_for(picture_of(64 * kMegabyte, turn(1e9), {}, 100)), 4);
}

// Writers of one node take turns; nodes do as far as the file system makes them.
TEST(NodeChoice, NodesWriteAtTheSameTimeWhereTheFileSystemServesThem) {
  Costs wide;
  wide.nodes_served = 100;
  wide.message_ns = 100e3;
  Costs narrow = wide;
  narrow.nodes_served = 1;
  // 8 ranks, two of them on a node: 2 turns, or 8.
  const WayChoice apart = way_of(picture_of(kMegabyte, turn(0.8e6), wide));
  EXPECT_EQ(apart.way, Way::kSeparately);
  EXPECT_NE(apart.reason.find(": 1.6 ms apart against at least "), std::string::npos)
      << apart.reason;
  EXPECT_EQ(way_of(picture_of(kMegabyte, turn(0.8e6), narrow)).way, Way::kUndecided);
}

TEST(NodeChoice, TheNetworkDecides) {
  Costs slow;
  slow.network_byte_ns = 80;
  slow.message_ns = 250e3;
  const Price price = turn(1e6);
  EXPECT_EQ(way_of(picture_of(kMegabyte, price, {})).way, Way::kUndecided);
  EXPECT_EQ(way_of(picture_of(kMegabyte, price, slow)).way, Way::kSeparately);
}

TEST(NodeChoice, HintsDecide) {
  Picture picture = picture_of(kMegabyte, turn(1e9), {});
  picture.policy.buffering = Toggle::kDisable;
  EXPECT_EQ(way_of(picture).way, Way::kSeparately);
  picture.policy.buffering = Toggle::kEnable;
  EXPECT_EQ(way_of(picture).way, Way::kTogether);
}

Schedule dense(int64_t bytes, int64_t cell) {
  Schedule schedule;
  for (int64_t at = 0; at < bytes; at += cell) {
    const Interval file = {at, std::min(bytes, at + cell)};
    schedule.rounds.push_back({file, file.length(), false});
  }
  return schedule;
}

TEST(NodeChoice, TheExplanationNamesTheAlternatives) {
  const Picture picture = picture_of(8 * kMegabyte, turn(1e7), {});
  const Crossing crossing = {picture, kFourNodes, Direction::kWrite};
  const WayChoice together =
      choose_way_across_nodes(crossing, dense(8 * kMegabyte, 2 * kMegabyte), 4);
  EXPECT_EQ(together.way, Way::kTogether);
  for (const char* part :
       {"8 ranks, ", " by two-phase with 4 aggregators against 80.0 ms apart and ",
        " gathered by one rank"}) {
    EXPECT_NE(together.reason.find(part), std::string::npos) << together.reason;
  }
}

// Windows of gaps cost what they span, and a read first.
TEST(NodeChoice, WindowsOfGapsAreNotWorthIt) {
  const Picture picture = picture_of(800, turn(1e5), {});
  Schedule sparse = dense(64 * kMegabyte, 4 * kMegabyte);
  for (Round& round : sparse.rounds) round.bytes = 50;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    EXPECT_EQ(choose_way_across_nodes({picture, kFourNodes, direction}, sparse, 4).way,
              Way::kSeparately);
  }
}

TEST(NodeChoice, EveryAggregatorHasACell) {
  Picture picture = picture_of(8 * kMegabyte, turn(1), {});
  for (const int64_t begin : {int64_t{0}, int64_t{1}, int64_t{12345}, 7 * kMegabyte}) {
    for (const int64_t length : {int64_t{8}, int64_t{5000}, kMegabyte, 15 * kMegabyte}) {
      for (const int64_t aggregators : {1, 2, 3, 8}) {
        picture.span = {begin, begin + length};
        const int64_t cell = cell_for(picture, aggregators);
        const int64_t cells = (picture.span.end - 1) / cell - begin / cell + 1;
        const int64_t most = window_bytes_max(picture.policy, aggregators);
        EXPECT_TRUE(cell >= 1 && cell <= most);
        if (aggregators > 1 && length <= (aggregators - 1) * most) {
          EXPECT_LE(cells, aggregators) << begin << " " << length << " " << aggregators;
        }
      }
    }
  }
}

// The whole way: four ranks on two nodes, runs of one byte in turn.
model::Scene scene_of(const Costs& costs) {
  model::Scene scene;
  scene.direction = Direction::kWrite;
  scene.node = {0, 0, 1, 1};
  scene.costs = costs;
  for (int64_t rank = 0; rank < 4; ++rank) {
    model::Case one;
    one.memory = model::Contents(2 * model::kMemoryReach, static_cast<std::byte>(rank + 1));
    one.move.direction = Direction::kWrite;
    one.move.file = pattern::repeat(Pattern::run({{rank}}, 1).value(), 500, {{4}}).value();
    one.move.memory = Pattern::run({{0}}, 500).value();
    scene.ranks.push_back(std::move(one));
  }
  for (model::Case& rank : scene.ranks) rank.move.base = rank.memory.data() + model::kMemoryReach;
  return scene;
}

model::Played played(model::Scene& scene) {
  model::SharedFile file;
  model::mark_provided(scene, file, model::end_of(scene));
  model::Played result = model::play(scene, file);
  EXPECT_EQ(file.contents.size(), 2000U);
  for (size_t i = 0; i < file.contents.size(); ++i) {
    EXPECT_EQ(file.contents[i], static_cast<std::byte>(i % 4 + 1)) << i;
  }
  return result;
}

TEST(NodeChoice, IsWhatIsDone) {
  model::Scene quick = scene_of({});
  for (const Choice& choice : played(quick).choices) {
    EXPECT_EQ(choice.engine, Engine::kTwoPhase) << choice.reason;
    EXPECT_NE(choice.reason.find(" gathered by one rank against "), std::string::npos)
        << choice.reason;
  }
  Costs costs;
  costs.message_ns = 1e9;
  model::Scene slow = scene_of(costs);
  for (const Choice& choice : played(slow).choices) {
    EXPECT_EQ(choice.engine, Engine::kList) << choice.reason;
    EXPECT_NE(choice.reason.find("; collective: 4 ranks, 2000 runs"), std::string::npos)
        << choice.reason;
    EXPECT_NE(choice.reason.find(" gathered by one rank"), std::string::npos) << choice.reason;
  }
}

}  // namespace
}  // namespace tessera::move
