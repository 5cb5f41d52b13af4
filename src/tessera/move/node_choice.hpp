// The choice among ranks of several nodes: whether they move together, and who gathers.
//
//   apart       each rank moves its own bytes: they cross the network once, and each run costs
//   gathered    two-phase with one aggregator: the fewest messages, through one link and one writer
//   two-phase   with several: links and writers side by side, at the price of more messages
//
// Each is given a time, from what the ranks ask for moving alone, and from the costs of messages
// and links; the least wins, and the explanation names the others.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "tessera/move/collective_choice.hpp"
#include "tessera/move/collective_summary.hpp"

namespace tessera::move {

// A collective move among nodes.
struct Crossing {
  const Picture& picture;
  std::span<const int> node;  // of every rank of the picture
  Direction direction;
};

// What the picture alone tells: hints, and moves for which meeting can only cost. kUndecided asks
// for a schedule.
[[nodiscard]] WayChoice choose_way_across_nodes(const Crossing& crossing);

// How many ranks aggregate if the move is a two-phase one: as many as hints say, else the number
// that costs least, at most one for each node. Cost: O(ranks x log nodes).
[[nodiscard]] int64_t count_aggregators(const Crossing& crossing);

// What the first rounds tell, with so many aggregators: kSeparately or kTogether.
[[nodiscard]] WayChoice choose_way_across_nodes(const Crossing& crossing, const Schedule& schedule,
                                                int64_t aggregators);

}  // namespace tessera::move
