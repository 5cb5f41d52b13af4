// LockTable: the list locks of one file.
//
// A list lock covers every byte of one set and is granted whole or not at all. Requests are granted
// in the order of their tickets, except that one passes those before it with which it does not
// conflict.
//   (L1) Two held locks overlap only if both are shared.
//   (L2) A waiting request holds nothing.
//   (L3) A request waits only for conflicting requests that arrived before it, held or waiting.
//
//   idle --request()--> waiting --grant--> held --remove()--> idle
//                          |
//                       remove()
//
// By (L2) and (L3) waits point only backwards in the order of arrival, so two interleaved strided
// writes cannot deadlock; and as nobody who comes later is waited for, nobody starves.
//
// A waiting request watches one of those it waits for, the latest. Only when that one goes it looks
// for another; if there is none, it is granted. So the table holds one word for each request
// however many wait for each other, and a queue for the whole file moves on in O(log n).
//
// A recallable lock is one that its holder gives back when somebody waits for its bytes. The table
// tells which ones those are:
//   (L5) recalls_of() answers, for a request that waits, every recallable one that it waits for,
//        held or waiting itself, and that was not answered before.
// They have an index of their own, so where there are none, or all are recalled, this costs
// nothing.
// Thread safety: none; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tessera/lock/lock_index.hpp"

namespace tessera::lock {

enum class LockState { kWaiting, kHeld };

class LockTable {
 public:
  explicit LockTable(std::unique_ptr<LockIndex> index) : index_(std::move(index)) {}

  // Grants the claim or lets it wait. Requires bytes, and a ticket above all before. Cost: a search
  // in the index.
  [[nodiscard]] LockState request(Ticket ticket, Claim claim, bool recallable = false);

  // The claim as held, whatever waits: for a table that is built up again after a restart. Fails
  // with kInvalid, and changes nothing, if it conflicts with a held one. Requires that nobody
  // waits.
  [[nodiscard]] base::Result<void> restore(Ticket ticket, Claim claim, bool recallable = false);

  // The request is over: released, cancelled or expired. Answers those that are granted by that,
  // in the order of their tickets. Requires that it is there. Cost: a search for each request that
  // watched it.
  [[nodiscard]] std::vector<Ticket> remove(Ticket ticket);

  // Nothing if there is no such request.
  [[nodiscard]] std::optional<LockState> state(Ticket ticket) const;
  // Null if there is no such request; valid until it is removed.
  [[nodiscard]] const Claim* claim(Ticket ticket) const;
  // The latest of those that a waiting request waits for.
  [[nodiscard]] std::optional<Ticket> waits_for(Ticket ticket) const;

  // (L5) Requires that the request waits. Cost: a search for each that is answered, and one.
  [[nodiscard]] std::vector<Ticket> recalls_of(Ticket waiting);

  [[nodiscard]] size_t size() const { return requests_.size(); }
  [[nodiscard]] size_t held() const { return held_; }
  [[nodiscard]] bool empty() const { return requests_.empty(); }
  [[nodiscard]] size_t memory_bytes() const { return index_->memory_bytes(); }

  // Calls visit(ticket, claim, state) for every request, in no order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [ticket, request] : requests_) visit(ticket, request.claim, state_of(request));
  }

  // Asserts (L1) to (L3). Cost: O(n^2). For tests.
  void check_invariants() const;

 private:
  struct Request {
    Claim claim;
    std::optional<Ticket> watched;  // none of a held one
    std::vector<Ticket> watchers = {};
    bool recallable = false;
    bool recalled = false;  // recalls_of() has answered it
  };

  [[nodiscard]] static LockState state_of(const Request& request) {
    return request.watched ? LockState::kWaiting : LockState::kHeld;
  }
  // Lets the request watch, or grants it; whether it is held.
  bool settle(Ticket ticket, Request& request);
  Request& add(Ticket ticket, Claim claim, bool recallable);

  std::unique_ptr<LockIndex> index_;
  // Recallable requests that were not recalled; made for the first.
  std::unique_ptr<LockIndex> recallable_;
  std::unordered_map<Ticket, Request> requests_;
  Ticket last_ = 0;
  size_t held_ = 0;
};

}  // namespace tessera::lock
