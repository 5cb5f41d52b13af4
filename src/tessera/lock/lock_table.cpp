#include "tessera/lock/lock_table.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/overlap.hpp"

namespace tessera::lock {

bool LockTable::settle(Ticket ticket, Request& request) {
  request.watched = index_->latest_conflict(request.claim, ticket);
  if (!request.watched) {
    ++held_;
    return true;
  }
  requests_.at(*request.watched).watchers.push_back(ticket);
  return false;
}

LockTable::Request& LockTable::add(Ticket ticket, Claim claim, bool recallable) {
  last_ = std::max(last_, ticket);
  Request& request =
      requests_.emplace(ticket, Request{std::move(claim), {}, {}, recallable}).first->second;
  if (recallable) {
    if (!recallable_) recallable_ = index_->another();
    recallable_->insert(ticket, request.claim);
  }
  return request;
}

LockState LockTable::request(Ticket ticket, Claim claim, bool recallable) {
  TESSERA_ASSERT(ticket > last_ && !claim.bytes.empty());
  Request& request = add(ticket, std::move(claim), recallable);
  const bool granted = settle(ticket, request);
  index_->insert(ticket, request.claim);
  return granted ? LockState::kHeld : LockState::kWaiting;
}

base::Result<void> LockTable::restore(Ticket ticket, Claim claim, bool recallable) {
  TESSERA_ASSERT(held_ == requests_.size() && !claim.bytes.empty() && !requests_.contains(ticket));
  if (const auto other = index_->latest_conflict(claim, std::max(last_, ticket) + 1)) {
    return base::fail(base::Code::kInvalid,
                      "the lock conflicts with lock " + std::to_string(*other) + ", which is held");
  }
  index_->insert(ticket, claim);
  static_cast<void>(add(ticket, std::move(claim), recallable));
  ++held_;
  return {};
}

std::vector<Ticket> LockTable::remove(Ticket ticket) {
  const auto at = requests_.find(ticket);
  TESSERA_ASSERT(at != requests_.end());
  if (at->second.watched) {
    std::erase(requests_.at(*at->second.watched).watchers, ticket);
  } else {
    --held_;
  }
  std::vector<Ticket> watchers = std::move(at->second.watchers);
  index_->erase(ticket);
  if (at->second.recallable && !at->second.recalled) recallable_->erase(ticket);
  requests_.erase(at);
  std::vector<Ticket> granted;
  for (const Ticket watcher : watchers) {
    if (settle(watcher, requests_.at(watcher))) granted.push_back(watcher);
  }
  std::sort(granted.begin(), granted.end());
  return granted;
}

std::optional<LockState> LockTable::state(Ticket ticket) const {
  const auto at = requests_.find(ticket);
  if (at == requests_.end()) return std::nullopt;
  return state_of(at->second);
}

const Claim* LockTable::claim(Ticket ticket) const {
  const auto at = requests_.find(ticket);
  return at == requests_.end() ? nullptr : &at->second.claim;
}

std::optional<Ticket> LockTable::waits_for(Ticket ticket) const {
  const auto at = requests_.find(ticket);
  return at == requests_.end() ? std::nullopt : at->second.watched;
}

// Each is found by the one before it: the latest first.
std::vector<Ticket> LockTable::recalls_of(Ticket waiting) {
  const Request& request = requests_.at(waiting);
  TESSERA_ASSERT(request.watched);
  std::vector<Ticket> recalls;
  if (!recallable_) return recalls;
  auto found = recallable_->latest_conflict(request.claim, waiting);
  while (found) {
    recalls.push_back(*found);
    found = recallable_->latest_conflict(request.claim, *found);
  }
  for (const Ticket ticket : recalls) {
    requests_.at(ticket).recalled = true;
    recallable_->erase(ticket);
  }
  return recalls;
}

void LockTable::check_invariants() const {
  size_t held = 0;
  for (const auto& [ticket, request] : requests_) {
    if (!request.watched) ++held;
    const auto blocker = index_->latest_conflict(request.claim, ticket);
    // (L3), and that nobody waits in vain: it waits if and only if an earlier one conflicts.
    TESSERA_ASSERT(request.watched.has_value() == blocker.has_value());
    if (request.watched) {
      TESSERA_ASSERT(*request.watched < ticket);
      const auto& watchers = requests_.at(*request.watched).watchers;
      TESSERA_ASSERT(std::count(watchers.begin(), watchers.end(), ticket) == 1);
      continue;
    }
    for (const auto& [other_ticket, other] : requests_) {
      if (other.watched || other_ticket == ticket) continue;
      if (!conflict(request.claim.mode, other.claim.mode)) continue;
      // (L1)
      const auto both = pattern::overlaps(request.claim.bytes, other.claim.bytes);
      TESSERA_ASSERT(both && !*both);
    }
  }
  TESSERA_ASSERT(held == held_);
}

}  // namespace tessera::lock
