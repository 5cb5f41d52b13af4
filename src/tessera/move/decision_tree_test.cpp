// The decision tree of the paper on interval data grouping (its Figure 7), given the costs of its
// machines: on Myrinet two-phase below 90 doubles a node for meshes of fewer than 70,000 nodes and
// below 50 for larger ones, list I/O above; on Fast Ethernet list I/O always.
//
// What decides is how many bytes of network one run of a list is worth. A rank of P writes r runs
// (Table 4) that hold N / P of the mesh's N nodes, L doubles each. Apart, the runs cost r x
// listed_write_ns; together, each byte of 8 x N x L / P crosses a link once more and is copied
// twice. The two are equal at
//     L = r / N x listed_write_ns / (network_byte_ns + 2 x copy_byte_ns)         (P = 8)
// and r / N x 1000 is 5.5, 6.2, 3.3 and 3.3 for the four meshes: with one quotient of 16,000 bytes
// the limits are 87, 99, 53 and 53 doubles. So one set of costs gives both limits of the tree, 90
// and 50; the number of nodes stands in it for the length of the runs.
//
// The costs themselves: Fast Ethernet moves 100 Mb/s, 80 ns a byte. The paper gives Myrinet
// "2 GB/s in each direction", 0.5 ns; the cards were sold with 2 Gb/s, 4 ns; both are tried, each
// with the cost of a run that makes the quotient. A copy took about 0.9 ns a byte in the memory of
// these machines. A message between user processes took some 15 us on Myrinet. That list I/O won on
// Fast Ethernet also with one double a node asks for 0.22 ms a message at least, which is what the
// message of 0.1 ms over TCP makes of ROMIO's several exchanges (offsets, lengths, sizes, bytes)
// where we have one. PVFS serves all eight nodes at once; a byte costs there what the network
// costs.
//
// Asserted are loads on both sides that lie a tenth and more away from 90 and 50.
#include <gtest/gtest.h>

#include "tessera/lock/no_locks.hpp"
#include "tessera/move/node_choice.hpp"
#include "tessera/move/two_phase.hpp"

namespace tessera::move {
namespace {

constexpr int64_t kRanks = 8;

struct Mesh {
  int64_t nodes;
  int64_t intervals;  // of a rank with the distribution of METIS, 8 partitions
};
constexpr Mesh kSmallMeshes[] = {{47219, 258}, {32888, 204}};
constexpr Mesh kLargeMeshes[] = {{73260, 244}, {289650, 966}};
// The largest was not run on Fast Ethernet.
constexpr Mesh kEthernetMeshes[] = {{47219, 258}, {32888, 204}, {73260, 244}};

struct Network {
  double byte_ns;
  double message_ns;
};
constexpr double kCopyByteNs = 0.9;
constexpr Network kMyrinetAsPrinted = {0.5, 15e3};
constexpr Network kMyrinetAsSold = {4, 15e3};
constexpr Network kFastEthernet = {80, 250e3};

// The cost of a run that makes the quotient; seven eighths of the bytes cross a link.
constexpr double run_ns(const Network& myrinet) {
  return 16000 * (myrinet.byte_ns * 7 / 8 + 2 * kCopyByteNs);
}

Costs costs_of(const Network& network, double listed_write_ns) {
  Costs costs;
  costs.request_ns = costs.listed_ns = costs.listed_write_ns = listed_write_ns;
  costs.read_byte_ns = costs.write_byte_ns = network.byte_ns;
  costs.copy_byte_ns = kCopyByteNs;
  costs.cached_share = 1;  // 256 KB of cache hold none of it
  costs.new_run_ns = costs.new_page_ns = 0;
  costs.message_ns = network.message_ns;
  costs.network_byte_ns = network.byte_ns;
  costs.nodes_served = kRanks;
  return costs;
}

// A file that is somewhere else, and that nobody transfers to.
class FarFile final : public port::File {
 public:
  FarFile() : File("far") {}
  base::Result<void> truncate(int64_t) override { return {}; }
  base::Result<int64_t> size() override { return int64_t{0}; }
  base::Result<void> sync() override { return {}; }

 protected:
  Attempt read_some(int64_t, std::span<const iovec>) override { return {0, 0}; }
  Attempt write_some(int64_t, std::span<const iovec>) override { return {0, 0}; }
};

// The moves of the ranks: intervals of equal length, in turn.
std::vector<Move> moves_of(const Mesh& mesh, int64_t load) {
  const int64_t all = mesh.nodes * load * 8;
  const int64_t run = all / (kRanks * mesh.intervals);
  std::vector<Move> moves;
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    Move move;
    move.direction = Direction::kWrite;
    const Pattern first = Pattern::run({{rank * run}}, run).value();
    move.file = pattern::repeat(first, mesh.intervals, {{kRanks * run}}).value();
    move.memory = Pattern::run({{0}}, move.file.size()).value();
    moves.push_back(move);
  }
  return moves;
}

Picture picture_of(const std::vector<Move>& moves, const Costs& costs) {
  FarFile file;
  lock::NoLocks locks;
  const Hints hints;
  std::vector<base::Bytes> messages;
  for (const Move& move : moves) {
    const Context context = {file, locks, hints, costs, {}, {}};
    messages.push_back(encode(summary_of(move, context, facts_of(move, context)),
                              policy_of(move.direction, context)));
  }
  return move::picture_of(messages).value();
}

// As execute_across_nodes() goes about it.
WayChoice way_of(const Mesh& mesh, int64_t load, const Costs& costs) {
  const std::vector<Move> moves = moves_of(mesh, load);
  const Picture picture = picture_of(moves, costs);
  const std::vector<int> node = {0, 1, 2, 3, 4, 5, 6, 7};
  const Crossing crossing = {picture, node, Direction::kWrite};
  WayChoice first = choose_way_across_nodes(crossing);
  if (first.way != Way::kUndecided) return first;
  const int64_t aggregators = count_aggregators(crossing);
  const int64_t cell = cell_for(picture, aggregators);
  std::vector<CellList> lists;
  for (const Move& move : moves) lists.push_back(list_cells(move.file, cell, 0));
  return choose_way_across_nodes(crossing, merge_lists(lists, cell), aggregators);
}

void expect_way(Way way, std::span<const Mesh> meshes, std::initializer_list<int64_t> loads,
                const Costs& costs) {
  for (const Mesh& mesh : meshes) {
    for (const int64_t load : loads) {
      const WayChoice choice = way_of(mesh, load, costs);
      EXPECT_EQ(choice.way, way) << mesh.nodes << " nodes, load " << load << ": " << choice.reason;
    }
  }
}

// Apart is list I/O: nothing else is open to ranks that write between each other's bytes.
TEST(DecisionTree, ApartIsByList) {
  const Costs costs = costs_of(kMyrinetAsPrinted, run_ns(kMyrinetAsPrinted));
  for (const Mesh& mesh : kSmallMeshes) {
    for (const Move& move : moves_of(mesh, 100)) {
      EXPECT_EQ(price_independent(move, costs, {}, false).engine, Engine::kList);
    }
  }
}

TEST(DecisionTree, MyrinetTakesTwoPhaseForSmallLoadsAndListsForLarge) {
  for (const Network& myrinet : {kMyrinetAsPrinted, kMyrinetAsSold}) {
    const Costs costs = costs_of(myrinet, run_ns(myrinet));
    expect_way(Way::kTogether, kSmallMeshes, {1, 10, 30, 60, 75}, costs);
    expect_way(Way::kSeparately, kSmallMeshes, {100, 200, 500}, costs);
    expect_way(Way::kTogether, kLargeMeshes, {1, 10, 30, 45}, costs);
    expect_way(Way::kSeparately, kLargeMeshes, {60, 75, 100, 200, 500}, costs);
  }
}

TEST(DecisionTree, FastEthernetTakesListsAlways) {
  const Costs costs = costs_of(kFastEthernet, run_ns(kMyrinetAsPrinted));
  expect_way(Way::kSeparately, kEthernetMeshes, {1, 10, 30, 50, 90, 100, 200, 500}, costs);
}

}  // namespace
}  // namespace tessera::move
