// NodeExchange: an exchange that speaks through common memory inside a node.
//
// Ranks of one node hand their messages to the node's leader through their team; only leaders send
// messages to other nodes, one for each pair of nodes. Made of two exchanges, so it knows neither
// MPI nor shared memory and is tested with threads.
//   (N1) Every rank is in one node's team; rank 0 of each team, its leader, is in `leaders`.
//   (N2) Ranks are numbered as the caller says (members), not by their place in a team.
// Thread safety: as Exchange.
#pragma once

#include <vector>

#include "tessera/port/exchange.hpp"

namespace tessera::mpiio {

class NodeExchange final : public port::Exchange {
 public:
  struct Places {
    int rank = 0;                           // mine, among all
    std::vector<std::vector<int>> members;  // of each node, in the order of its team; leaders first
  };

  // `team` is this node's, `leaders` has one rank for each node in the order of places.members and
  // is null on ranks that do not lead. Both outlive it.
  NodeExchange(Places places, port::Exchange& team, port::Exchange* leaders);

  [[nodiscard]] int rank() const override { return places_.rank; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] base::Result<void> barrier() override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_to_all(
      std::vector<base::Bytes> outgoing) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_gather(base::Bytes mine) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> gather(int root, base::Bytes mine) override;
  [[nodiscard]] base::Result<base::Bytes> broadcast(int root, base::Bytes value) override;
  [[nodiscard]] base::Result<uint64_t> all_max(uint64_t mine) override;

 private:
  Places places_;
  port::Exchange& team_;
  port::Exchange* leaders_;
  int size_ = 0;
};

}  // namespace tessera::mpiio
