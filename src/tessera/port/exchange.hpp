// Exchange: the few collective operations that the engines need among ranks.
//
// Two-phase I/O, owner assignment and the agreement on errors are written against this, so that
// they run without MPI: as threads (ThreadExchange), alone (SelfExchange), or on a communicator.
//   (E1) All ranks call the same functions in the same order, with the same root.
//   (E2) A call that succeeds on one rank had the contributions of all ranks.
//   (E3) After a call failed on a rank, every later call fails on that rank, and no rank waits for
//        one that has left; so an error strands nobody.
//   (E4) agree() gives all ranks on which it succeeds in reaching the others the same verdict.
// Thread safety: one thread at a time for each rank's exchange.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::port {

class Exchange {
 public:
  virtual ~Exchange() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // Returns when all ranks have called it.
  [[nodiscard]] virtual base::Result<void> barrier() = 0;

  // Sends outgoing[r] to rank r; answers what each rank sent here, by rank. Requires one element
  // for each rank; they may be of any size, also empty.
  [[nodiscard]] virtual base::Result<std::vector<base::Bytes>> all_to_all(
      std::vector<base::Bytes> outgoing) = 0;

  // Answers the contributions of all ranks, by rank.
  [[nodiscard]] virtual base::Result<std::vector<base::Bytes>> all_gather(base::Bytes mine) = 0;

  // all_gather() of a rank that gives nothing; for the others it is one. Answers no element at all
  // if nobody gave anything, which is the cheapest way to meet.
  [[nodiscard]] virtual base::Result<std::vector<base::Bytes>> listen();

  // Answers the contributions of all ranks, by rank, at the root; nothing elsewhere.
  [[nodiscard]] virtual base::Result<std::vector<base::Bytes>> gather(int root,
                                                                      base::Bytes mine) = 0;

  // Answers what the root gave; what others give is ignored.
  [[nodiscard]] virtual base::Result<base::Bytes> broadcast(int root, base::Bytes value) = 0;

  // Answers the largest number given.
  [[nodiscard]] virtual base::Result<uint64_t> all_max(uint64_t mine) = 0;

  // The one way to turn the outcomes of the ranks into an outcome of the collective: success if all
  // succeeded, else the same error on every rank, the worst one given (of several, that of the
  // lowest rank), with its rank in the sentence. Worst first: integrity, failed, denied, invalid,
  // not-found, too-complex, retry. Costs one reduction, and a broadcast only where there is an
  // error.
  [[nodiscard]] base::Result<void> agree(const base::Result<void>& mine);
};

}  // namespace tessera::port
