// NodeExchange: an exchange that speaks through common memory inside a node.
//
// Ranks of one node hand their messages to the node's leader through their team; only leaders send
// messages to other nodes, one for each pair of nodes. Made of two exchanges, so it knows neither
// MPI nor shared memory and is tested with threads.
//   (N1) Every rank is in one node's team; rank 0 of each team, its leader, is in `leaders`.
//   (N2) Ranks are numbered as the caller says (members), not by their place in a team.
//   (N3) Every call ends with word from the leader to its team, and leaders pass on what failed in
//        their teams. So a call that fails between two nodes fails on both, and strands nobody
//        (E3).
// Thread safety: as Exchange.
#pragma once

#include <optional>
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
  using Messages = std::vector<base::Bytes>;
  struct Place {
    size_t node = 0;
    size_t member = 0;  // of the node's team
  };

  [[nodiscard]] const Place& place(int rank) const { return place_[static_cast<size_t>(rank)]; }
  [[nodiscard]] bool alone() const { return places_.members.size() == 1; }
  [[nodiscard]] bool leads() const { return leaders_ != nullptr; }
  [[nodiscard]] base::Result<void> usable() const;
  // Keeps the first failure, which all later calls answer.
  template <typename T>
  [[nodiscard]] base::Result<T> kept(base::Result<T> result);

  // Messages of this node's team, by member, as messages by rank.
  [[nodiscard]] Messages by_rank(Messages by_member) const;

  // At the leader: what each node gave, or why one of them could not.
  [[nodiscard]] base::Result<Messages> among_leaders(const base::Result<base::Bytes>& mine);
  // What the leader has to say to the whole team; others give nothing.
  [[nodiscard]] base::Result<base::Bytes> told(const base::Result<base::Bytes>& mine);
  // What the leader has for each member; others give nothing.
  [[nodiscard]] base::Result<base::Bytes> handed_out(const base::Result<Messages>& mine);

  // At the leader: sends outgoing[n] to each node n, or why there is nothing to send.
  [[nodiscard]] base::Result<Messages> exchanged_by_leaders(base::Result<Messages> outgoing);

  [[nodiscard]] base::Result<Messages> all_to_all_of_nodes(Messages outgoing);
  [[nodiscard]] base::Bytes for_leader(const base::Bytes& direct, const Messages& outgoing) const;
  [[nodiscard]] base::Result<Messages> bundles_for_nodes(const Messages& collected) const;
  [[nodiscard]] base::Result<Messages> parcels_for_members(const Messages& bundles) const;
  [[nodiscard]] base::Result<Messages> parcels_from_nodes(const base::Result<Messages>& collected);
  [[nodiscard]] base::Result<Messages> unpacked(Messages from_team,
                                                const base::Bytes& parcels) const;
  [[nodiscard]] base::Result<Messages> all_by_rank(const Messages& nodes) const;
  [[nodiscard]] base::Result<Messages> all_gather_of_nodes(base::Bytes mine);
  [[nodiscard]] base::Result<Messages> gather_of_nodes(int root, base::Bytes mine);
  [[nodiscard]] base::Result<Messages> gathered_by_leaders(int root,
                                                           const base::Result<Messages>& collected);
  [[nodiscard]] base::Result<base::Bytes> broadcast_of_nodes(int root, base::Bytes value);
  [[nodiscard]] base::Result<uint64_t> all_max_of_nodes(uint64_t mine);

  Places places_;
  std::vector<Place> place_;  // by rank
  port::Exchange& team_;
  port::Exchange* leaders_;
  int size_ = 0;
  std::optional<base::Error> broken_;
};

}  // namespace tessera::mpiio
