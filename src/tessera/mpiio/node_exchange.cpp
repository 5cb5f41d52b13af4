#include "tessera/mpiio/node_exchange.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/mpiio/node_messages.hpp"

namespace tessera::mpiio {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Code;
using base::Result;
using Messages = std::vector<Bytes>;

namespace {

Bytes nothing() { return {}; }

}  // namespace

NodeExchange::NodeExchange(Places places, port::Exchange& team, port::Exchange* leaders)
    : places_(std::move(places)), team_(team), leaders_(leaders) {
  for (const std::vector<int>& node : places_.members) size_ += base::exact_cast<int>(node.size());
  place_.resize(static_cast<size_t>(size_));
  for (size_t node = 0; node < places_.members.size(); ++node) {
    for (size_t member = 0; member < places_.members[node].size(); ++member) {
      place_.at(static_cast<size_t>(places_.members[node][member])) = {node, member};
    }
  }
  TESSERA_ASSERT(place(rank()).member == static_cast<size_t>(team.rank()));
  TESSERA_ASSERT((leaders == nullptr) == (team.rank() != 0));
}

Result<void> NodeExchange::usable() const {
  if (broken_) return base::Failure{*broken_};
  return {};
}

template <typename T>
Result<T> NodeExchange::kept(Result<T> result) {
  if (!result && !broken_) broken_ = result.error();
  return result;
}

Messages NodeExchange::by_rank(Messages by_member) const {
  Messages result(by_member.size());
  for (size_t i = 0; i < by_member.size(); ++i) {
    result[static_cast<size_t>(places_.members[0][i])] = std::move(by_member[i]);
  }
  return result;
}

Result<Messages> NodeExchange::among_leaders(const Result<Bytes>& mine) {
  TESSERA_TRY(const Messages all, leaders_->all_gather(sealed(mine)));
  Messages contents;
  for (const Bytes& each : all) {
    TESSERA_TRY(const ByteView content, opened(each));
    contents.push_back(base::copy_of(content));
  }
  return contents;
}

Result<Messages> NodeExchange::exchanged_by_leaders(Result<Messages> outgoing) {
  Messages to_nodes(places_.members.size());
  for (size_t node = 0; node < to_nodes.size(); ++node) {
    to_nodes[node] =
        outgoing ? sealed(std::move((*outgoing)[node])) : sealed(base::failure_of(outgoing));
  }
  TESSERA_TRY(Messages incoming, leaders_->all_to_all(std::move(to_nodes)));
  for (Bytes& each : incoming) {
    TESSERA_TRY(const ByteView content, opened(each));
    each = base::copy_of(content);
  }
  return incoming;
}

Result<Bytes> NodeExchange::told(const Result<Bytes>& mine) {
  TESSERA_TRY(const Bytes word, team_.broadcast(0, leads() ? sealed(mine) : nothing()));
  TESSERA_TRY(const ByteView content, opened(word));
  return base::copy_of(content);
}

Result<Bytes> NodeExchange::handed_out(const Result<Messages>& mine) {
  const auto members = static_cast<size_t>(team_.size());
  Messages outgoing(members);
  for (size_t i = 0; leads() && i < members; ++i) {
    outgoing[i] = mine ? sealed((*mine)[i]) : sealed(base::failure_of(mine));
  }
  TESSERA_TRY(const Messages incoming, team_.all_to_all(std::move(outgoing)));
  TESSERA_TRY(const ByteView content, opened(incoming[0]));
  return base::copy_of(content);
}

// --- barrier and all_max

Result<void> NodeExchange::barrier() {
  if (alone()) return team_.barrier();
  TESSERA_TRY_VOID(all_max(0));
  return {};
}

Result<uint64_t> NodeExchange::all_max(uint64_t mine) {
  if (alone()) return team_.all_max(mine);
  TESSERA_TRY_VOID(usable());
  return kept(all_max_of_nodes(mine));
}

Result<uint64_t> NodeExchange::all_max_of_nodes(uint64_t mine) {
  const auto of_team = team_.all_max(mine);
  if (!leads()) {
    if (!of_team) return base::failure_of(of_team);
    TESSERA_TRY(const Bytes word, told(nothing()));
    return decoded(word);
  }
  const auto of_all = [&]() -> Result<Bytes> {
    TESSERA_TRY(const Messages maxima,
                among_leaders(of_team ? Result<Bytes>(encoded(*of_team))
                                      : Result<Bytes>(base::failure_of(of_team))));
    uint64_t largest = 0;
    for (const Bytes& each : maxima) {
      TESSERA_TRY(const uint64_t maximum, decoded(each));
      largest = std::max(largest, maximum);
    }
    return encoded(largest);
  }();
  TESSERA_TRY(const Bytes word, told(of_all));
  return decoded(word);
}

// --- all_to_all

Result<Messages> NodeExchange::all_to_all(Messages outgoing) {
  TESSERA_ASSERT(outgoing.size() == static_cast<size_t>(size_));
  if (alone()) {
    Messages to_members;
    for (const int rank : places_.members[0]) {
      to_members.push_back(std::move(outgoing[static_cast<size_t>(rank)]));
    }
    TESSERA_TRY(Messages incoming, team_.all_to_all(std::move(to_members)));
    return by_rank(std::move(incoming));
  }
  TESSERA_TRY_VOID(usable());
  return kept(all_to_all_of_nodes(std::move(outgoing)));
}

// At the leader: what its team has for other nodes, a bundle for each node. A bundle is a list of
// senders and parcels.
Result<Messages> NodeExchange::bundles_for_nodes(const Messages& collected) const {
  Messages bundles(places_.members.size());
  for (size_t member = 0; member < collected.size(); ++member) {
    const int from = places_.members[place(rank()).node][member];
    ByteReader reader(collected[member]);
    TESSERA_TRY_VOID(reader.sized_bytes());  // for the leader itself
    while (!reader.at_end()) {
      TESSERA_TRY(const Parcel parcel, read_parcel(reader, size_));
      Bytes& bundle = bundles[place(parcel.rank).node];
      ByteWriter(bundle).varint(static_cast<uint64_t>(from));
      write_parcel(bundle, parcel);
    }
  }
  return bundles;
}

// At the leader: what the bundles hold, as a list of parcels for each member.
Result<Messages> NodeExchange::parcels_for_members(const Messages& bundles) const {
  Messages parcels(places_.members[place(rank()).node].size());
  for (const Bytes& bundle : bundles) {
    ByteReader reader(bundle);
    while (!reader.at_end()) {
      TESSERA_TRY(const uint64_t from, reader.varint());
      TESSERA_TRY(const Parcel parcel, read_parcel(reader, size_));
      if (place(parcel.rank).node != place(rank()).node) {
        return base::fail(Code::kIntegrity, "a message reached a node that it is not for");
      }
      write_parcel(parcels[place(parcel.rank).member], {static_cast<int>(from), parcel.message});
    }
  }
  return parcels;
}

// At the leader: sends what its team has for other nodes and answers what they sent, as parcels for
// each member.
Result<Messages> NodeExchange::parcels_from_nodes(const Result<Messages>& collected) {
  auto bundles = collected ? bundles_for_nodes(*collected) : base::failure_of(collected);
  TESSERA_TRY(const Messages incoming, exchanged_by_leaders(std::move(bundles)));
  return parcels_for_members(incoming);
}

Result<Messages> NodeExchange::all_to_all_of_nodes(Messages outgoing) {
  Messages to_team;
  for (const int mate : places_.members[place(rank()).node]) {
    to_team.push_back(std::exchange(outgoing[static_cast<size_t>(mate)], {}));
  }
  to_team[0] = for_leader(to_team[0], outgoing);
  auto from_team = team_.all_to_all(std::move(to_team));
  if (!leads() && !from_team) return from_team;
  TESSERA_TRY(const Bytes parcels,
              handed_out(leads() ? parcels_from_nodes(from_team) : Result<Messages>(Messages())));
  if (!from_team) return base::failure_of(from_team);
  return unpacked(*std::move(from_team), parcels);
}

Bytes NodeExchange::for_leader(const Bytes& direct, const Messages& outgoing) const {
  Bytes message;
  message.reserve(direct.size() + total_size(outgoing));
  ByteWriter(message).sized_bytes(direct);
  for (int to = 0; to < size_; ++to) {
    const Bytes& remote = outgoing[static_cast<size_t>(to)];
    if (!remote.empty()) write_parcel(message, {to, remote});
  }
  return message;
}

Result<Messages> NodeExchange::unpacked(Messages from_team, const Bytes& parcels) const {
  Messages incoming(static_cast<size_t>(size_));
  const std::vector<int>& mates = places_.members[place(rank()).node];
  for (size_t i = 0; i < mates.size(); ++i) {
    Bytes& message = from_team[i];
    if (leads()) {
      TESSERA_TRY(const ByteView direct, ByteReader(message).sized_bytes());
      message = base::copy_of(direct);
    }
    incoming[static_cast<size_t>(mates[i])] = std::move(message);
  }
  for (ByteReader reader(parcels); !reader.at_end();) {
    TESSERA_TRY(const Parcel parcel, read_parcel(reader, size_));
    incoming[static_cast<size_t>(parcel.rank)] = base::copy_of(parcel.message);
  }
  return incoming;
}

// --- all_gather and gather

// What the nodes gave, each a list in the order of its team, by rank.
Result<Messages> NodeExchange::all_by_rank(const Messages& nodes) const {
  Messages all(static_cast<size_t>(size_));
  for (size_t node = 0; node < nodes.size(); ++node) {
    ByteReader reader(nodes[node]);
    for (const int from : places_.members[node]) {
      TESSERA_TRY(const ByteView message, reader.sized_bytes());
      all[static_cast<size_t>(from)] = base::copy_of(message);
    }
  }
  return all;
}

Result<Messages> NodeExchange::all_gather(Bytes mine) {
  if (alone()) {
    TESSERA_TRY(Messages all, team_.all_gather(std::move(mine)));
    return by_rank(std::move(all));
  }
  TESSERA_TRY_VOID(usable());
  return kept(all_gather_of_nodes(std::move(mine)));
}

Result<Messages> NodeExchange::all_gather_of_nodes(Bytes mine) {
  const auto collected = team_.gather(0, std::move(mine));
  if (!leads() && !collected) return base::failure_of(collected);
  const auto of_all = [&]() -> Result<Bytes> {
    if (!leads()) return nothing();
    TESSERA_TRY(const Messages nodes,
                among_leaders(collected ? Result<Bytes>(joined(*collected))
                                        : Result<Bytes>(base::failure_of(collected))));
    return joined(nodes);
  }();
  TESSERA_TRY(const Bytes word, told(of_all));
  Messages nodes;
  for (ByteReader reader(word); !reader.at_end();) {
    TESSERA_TRY(const ByteView node, reader.sized_bytes());
    nodes.push_back(base::copy_of(node));
  }
  return all_by_rank(nodes);
}

Result<Messages> NodeExchange::gather(int root, Bytes mine) {
  TESSERA_ASSERT(0 <= root && root < size_);
  if (alone()) {
    TESSERA_TRY(Messages all, team_.gather(static_cast<int>(place(root).member), std::move(mine)));
    return by_rank(std::move(all));
  }
  TESSERA_TRY_VOID(usable());
  return kept(gather_of_nodes(root, std::move(mine)));
}

// At the leader: sends what its team gave to the root's node and answers what each of its members
// gets: all of it at the root, nothing elsewhere.
Result<Messages> NodeExchange::gathered_by_leaders(int root, const Result<Messages>& collected) {
  Result<Messages> outgoing = Messages(places_.members.size());
  if (collected) {
    (*outgoing)[place(root).node] = joined(*collected);
  } else {
    outgoing = base::failure_of(collected);
  }
  TESSERA_TRY(const Messages nodes, exchanged_by_leaders(std::move(outgoing)));
  Messages to_members(static_cast<size_t>(team_.size()));
  if (place(root).node == place(rank()).node) to_members[place(root).member] = joined(nodes);
  return to_members;
}

Result<Messages> NodeExchange::gather_of_nodes(int root, Bytes mine) {
  const auto collected = team_.gather(0, std::move(mine));
  if (!leads() && !collected) return base::failure_of(collected);
  TESSERA_TRY(const Bytes word, handed_out(leads() ? gathered_by_leaders(root, collected)
                                                   : Result<Messages>(Messages())));
  if (rank() != root) return Messages();
  Messages nodes;
  for (ByteReader reader(word); !reader.at_end();) {
    TESSERA_TRY(const ByteView node, reader.sized_bytes());
    nodes.push_back(base::copy_of(node));
  }
  return all_by_rank(nodes);
}

// --- broadcast

Result<Bytes> NodeExchange::broadcast(int root, Bytes value) {
  TESSERA_ASSERT(0 <= root && root < size_);
  if (alone()) return team_.broadcast(static_cast<int>(place(root).member), std::move(value));
  TESSERA_TRY_VOID(usable());
  return kept(broadcast_of_nodes(root, std::move(value)));
}

Result<Bytes> NodeExchange::broadcast_of_nodes(int root, Bytes value) {
  const bool here = place(root).node == place(rank()).node;
  // On the root's node all have the value before the others; the leader's word then only says
  // whether they got it too.
  Result<Bytes> mine = nothing();
  if (here) mine = team_.broadcast(static_cast<int>(place(root).member), std::move(value));
  if (!leads() && !mine) return mine;
  const auto of_leaders = [&]() -> Result<Bytes> {
    if (!leads()) return nothing();
    TESSERA_TRY(const Bytes word,
                leaders_->broadcast(static_cast<int>(place(root).node), sealed(mine)));
    TESSERA_TRY(const ByteView content, opened(word));
    return here ? nothing() : base::copy_of(content);
  }();
  TESSERA_TRY(Bytes word, told(of_leaders));
  return here ? std::move(mine) : Result<Bytes>(std::move(word));
}

}  // namespace tessera::mpiio
