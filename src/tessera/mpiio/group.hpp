// Groups: the ranks that opened a file together, and how they reach each other.
//
// What belongs to a communicator is made once and kept on it (an attribute): our own duplicate, the
// map of ranks to nodes, and the group that coordinates opens. Every open file then has a group of
// its own from a pool, so that operations on two files never meet in one exchange. Ranks of one
// node reach each other through common memory and sleep while they wait, polling MPI now and then
// so that other traffic goes on; several nodes are joined by messages of their leaders.
//   (G1) Ranks take groups of one communicator in the same order: opens are collective.
//   (G2) A group is used by one file at a time, and goes back to the pool when all ranks closed it.
// Thread safety: one thread at a time for each group.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/port/shared_number.hpp"
#include "tessera/port/team.hpp"

namespace tessera::mpiio {

// What the ranks of a file count together: the pointer that they share, in etypes, and of an object
// file what cache::Numbers says.
enum class Number { kPointer, kSpace, kContents, kRoom, kTurn };
inline constexpr int kNumbers = 5;

class Group {
 public:
  virtual ~Group() = default;

  // All ranks of the communicator, numbered as there.
  [[nodiscard]] virtual port::Exchange& exchange() = 0;
  // The same ranks as a team, if all are on one node; else null.
  [[nodiscard]] virtual port::Team* team() = 0;
  // The node of each rank, from 0.
  [[nodiscard]] virtual std::span<const int> nodes() const = 0;
  // How many of the ranks are on this one's node, and which of them it is.
  [[nodiscard]] virtual int node_size() const = 0;
  [[nodiscard]] virtual int node_rank() const = 0;
  // Whether this rank is the first of its node: it does what has to be done once on every node.
  [[nodiscard]] bool leads_node() const { return node_rank() == 0; }
  [[nodiscard]] virtual port::SharedNumber& number(Number which) = 0;
  [[nodiscard]] port::SharedNumber& shared_pointer() { return number(Number::kPointer); }

  [[nodiscard]] int rank() { return exchange().rank(); }
  [[nodiscard]] int size() { return exchange().size(); }
};

// A group of the communicator for one open file. Collective. Fails on all ranks alike.
[[nodiscard]] base::Result<std::shared_ptr<Group>> take_group(MPI_Comm communicator);

// The communicator's group of processes, to be freed by the caller.
[[nodiscard]] base::Result<MPI_Group> process_group(MPI_Comm communicator);

// Frees everything that communicators keep; called by MPI_Finalize, when no file is open.
void end_groups();

}  // namespace tessera::mpiio
