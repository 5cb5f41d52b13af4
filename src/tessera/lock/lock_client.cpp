#include "tessera/lock/lock_client.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::lock {

namespace {

using base::Code;

// Messages in a lease: two may be lost.
constexpr int64_t kRenewalsPerLease = 3;

const char* text_of(Loss why) {
  switch (why) {
    case Loss::kExpired:
      return "the lock server has not heard of this process for the length of its lease";
    case Loss::kHeldLong:
      return "the lock was held for longer than was asked for";
    case Loss::kBroken:
      return "the lock was broken by an administrator";
    case Loss::kUpstream:
      return "the lock proxy of the node has lost it to the lock server";
    case Loss::kFull:
      return "the lock server has as many clients as it may have descriptors (ulimit -n)";
  }
  return "the lock was taken away";
}

}  // namespace

Sequence LockClient::oldest() const {
  return requests_.empty() ? last_ + 1 : requests_.begin()->first;
}

std::vector<Sequence> LockClient::active() const {
  std::vector<Sequence> sequences;
  for (const auto& [sequence, request] : requests_) sequences.push_back(sequence);
  return sequences;
}

bool LockClient::any(State state) const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [&](const auto& request) { return request.second.state == state; });
}

void LockClient::say(const Message& message) { send_(encode(message)); }

Sequence LockClient::acquire(const Asked& asked, int64_t now_ns) {
  TESSERA_ASSERT(!asked.claim.bytes.empty());
  // Nothing was said that could have been answered.
  if (!needs_session()) heard_ns_ = now_ns;
  const Sequence sequence = ++last_;
  Request request;
  request.message.sequence = sequence;
  request.message.file = asked.file;
  request.message.mode = asked.claim.mode;
  request.message.wait_ns = asked.wait_ns;
  request.message.hold_ns = asked.hold_ns;
  request.message.recallable = asked.recallable;
  request.message.bytes = pattern::encode(asked.claim.bytes.ascending());
  Request& kept = requests_.emplace(sequence, std::move(request)).first->second;
  if (greeted_) ask(kept, now_ns);
  return sequence;
}

void LockClient::ask(Request& request, int64_t now_ns) {
  request.message.oldest = oldest();
  request.message.stamp_ns = now_ns;
  request.message.reclaims = request.state == State::kReclaimed;
  say(request.message);
}

void LockClient::release(Sequence sequence, int64_t now_ns) {
  const auto at = requests_.find(sequence);
  if (at == requests_.end()) return;
  requests_.erase(at);
  if (greeted_) say(Release{sequence, oldest(), now_ns});
}

bool LockClient::holds(Sequence sequence, int64_t now_ns, int64_t for_ns) const {
  const auto at = requests_.find(sequence);
  if (at == requests_.end() || at->second.state == State::kAsked) return false;
  return now_ns < valid_until_ns_ && for_ns <= valid_until_ns_ - now_ns;
}

const LockClient::Standing& LockClient::standing(Sequence sequence) const {
  const Request& request = requests_.at(sequence);
  TESSERA_ASSERT(request.state != State::kAsked);
  return request.standing;
}

// --- connections

void LockClient::connected(int64_t now_ns) {
  connected_ = true;
  greeted_ = dismissed_ = false;
  heard_ns_ = now_ns;
  greet(now_ns);
}

void LockClient::disconnected() { connected_ = greeted_ = dismissed_ = false; }

void LockClient::leave() {
  requests_.clear();
  if (greeted_) say(Goodbye{});
  session_ = 0;
  secret_ = 0;
  greeted_ = false;
  dismissed_ = connected_;
}

void LockClient::greet(int64_t now_ns) {
  named_ns_ = now_ns;
  const bool is_proxy = idle_ == Idle::kRenewed;
  say(Hello{epoch_, session_, secret_, now_ns, name_, active(), is_proxy});
}

base::Result<void> LockClient::on(const Welcome& welcome, int64_t now_ns) {
  if (greeted_) return base::fail(Code::kIntegrity, "a second Welcome");
  greeted_ = true;
  const bool restarted = epoch_ != 0 && welcome.epoch != epoch_;
  if (expire(now_ns)) return {};
  if (!welcome.resumed && !restarted) lose_held(text_of(Loss::kExpired));
  if (restarted) {
    // What is held under the lease of the old server is asked for again; until then that lease
    // counts, as the new server grants it to nobody else.
    for (auto& [sequence, request] : requests_) {
      if (request.state == State::kHeld) request.state = State::kReclaimed;
    }
  }
  epoch_ = welcome.epoch;
  session_ = welcome.session;
  secret_ = welcome.secret;
  via_ = welcome.via;
  lease_ns_ = welcome.lease_ns;
  renew_lease(welcome.stamp_ns);
  // Also what is held: it may have been taken away while nobody could say so.
  for (auto& [sequence, request] : requests_) ask(request, now_ns);
  return {};
}

// While something is being reclaimed, the lease of the old server counts: the new one may not have
// heard of it yet.
void LockClient::renew_lease(int64_t stamp_ns) {
  if (any(State::kReclaimed)) return;
  valid_until_ns_ = std::max(valid_until_ns_, stamp_ns + lease_ns_);
}

// --- what servers say

void LockClient::on(const Granted& granted) {
  const auto at = requests_.find(granted.sequence);
  if (at == requests_.end()) return;
  const bool is_new = at->second.state == State::kAsked;
  at->second.state = State::kHeld;
  at->second.standing = {identity(), via_};
  if (!is_new) return;
  events_.push_back({Event::Kind::kGranted, granted.sequence});
  if (at->second.wanted) events_.push_back({Event::Kind::kRecalled, granted.sequence});
}

// One that overtakes the grant is told after it.
void LockClient::on(const Recall& recall) {
  const auto at = requests_.find(recall.sequence);
  if (at == requests_.end() || !at->second.message.recallable) return;
  if (std::exchange(at->second.wanted, true) || at->second.state == State::kAsked) return;
  events_.push_back({Event::Kind::kRecalled, recall.sequence});
}

void LockClient::on(const Refused& refused) {
  const auto at = requests_.find(refused.sequence);
  if (at == requests_.end()) return;
  if (at->second.state != State::kAsked) {
    lose(refused.sequence, refused.text);
    return;
  }
  requests_.erase(at);
  const bool later = refused.why == Refusal::kWouldWait || refused.why == Refusal::kBusy;
  events_.push_back({Event::Kind::kRefused, refused.sequence,
                     base::Error{later ? Code::kRetry : Code::kInvalid, 0, refused.text}});
}

void LockClient::on(const Lost& lost) {
  if (lost.sequence != 0) {
    lose(lost.sequence, text_of(lost.why));
    return;
  }
  // The session is gone; whoever still waits asks again in a new one, on a new connection: what is
  // under way on this one belongs to the old one.
  lose_held(text_of(lost.why));
  greeted_ = false;
  dismissed_ = true;
}

// Gives up what is held when the lease is over, and the session with it: a write that was begun
// under it may still be on its way, and must not pass for one of a session that lives. The server
// lets the old session die, and has it refused, before it grants its bytes to others.
bool LockClient::expire(int64_t now_ns) {
  if (now_ns < valid_until_ns_ || !(any(State::kHeld) || any(State::kReclaimed))) return false;
  lose_held(text_of(Loss::kExpired));
  session_ = 0;
  secret_ = 0;
  greeted_ = false;
  dismissed_ = connected_;
  return true;
}

void LockClient::lose(Sequence sequence, const std::string& why) {
  const auto at = requests_.find(sequence);
  if (at == requests_.end()) return;
  requests_.erase(at);
  events_.push_back({Event::Kind::kLost, sequence, base::Error{Code::kFailed, 0, why}});
}

// What is held under an older lease counts until that is over.
void LockClient::refuse_asked(const std::string& why) {
  std::vector<Sequence> asked;
  for (const auto& [sequence, request] : requests_) {
    if (request.state == State::kAsked) asked.push_back(sequence);
  }
  for (const Sequence sequence : asked) {
    requests_.erase(sequence);
    events_.push_back({Event::Kind::kRefused, sequence, base::Error{Code::kRetry, 0, why}});
  }
}

void LockClient::lose_held(const std::string& why) {
  std::vector<Sequence> held;
  for (const auto& [sequence, request] : requests_) {
    if (request.state != State::kAsked) held.push_back(sequence);
  }
  for (const Sequence sequence : held) lose(sequence, why);
}

base::Result<void> LockClient::receive(base::ByteView frame, int64_t now_ns) {
  TESSERA_TRY(const Message message, decode(frame));
  heard_ns_ = now_ns;
  if (const auto* welcome = std::get_if<Welcome>(&message)) return on(*welcome, now_ns);
  const auto* turned_away = std::get_if<Lost>(&message);
  if (!greeted_ && turned_away != nullptr && turned_away->why == Loss::kFull) {
    refuse_asked(text_of(Loss::kFull));
    return {};
  }
  // What a server said in a session that is over does not count.
  if (!greeted_) return {};
  if (const auto* granted = std::get_if<Granted>(&message)) {
    on(*granted);
    renew_lease(granted->stamp_ns);
  } else if (const auto* refused = std::get_if<Refused>(&message)) {
    on(*refused);
    renew_lease(refused->stamp_ns);
  } else if (const auto* renewed = std::get_if<Renewed>(&message)) {
    renew_lease(renewed->stamp_ns);
  } else if (const auto* lost = std::get_if<Lost>(&message)) {
    on(*lost);
  } else if (const auto* recall = std::get_if<Recall>(&message)) {
    on(*recall);
  } else if (std::holds_alternative<Retired>(message)) {
    // Of an older server; nothing depends on it.
  } else {
    return base::fail(Code::kIntegrity, "a message that only clients send");
  }
  return {};
}

// --- time

void LockClient::advance(int64_t now_ns) {
  if (expire(now_ns) || !greeted_ || !needs_session()) return;
  if (now_ns - named_ns_ < lease_ns_ / kRenewalsPerLease) return;
  named_ns_ = now_ns;
  say(Renew{now_ns, last_, active()});
  // Whoever waits asks again, should a message have been lost.
  for (auto& [sequence, request] : requests_) {
    if (request.state != State::kHeld) ask(request, now_ns);
  }
}

std::optional<int64_t> LockClient::next_due_ns() const {
  if (!needs_session()) return std::nullopt;
  std::optional<int64_t> due;
  if (greeted_) due = named_ns_ + lease_ns_ / kRenewalsPerLease;
  if (any(State::kHeld) || any(State::kReclaimed))
    due = std::min(due.value_or(valid_until_ns_), valid_until_ns_);
  return due;
}

bool LockClient::is_stalled(int64_t now_ns) const {
  // Before the first Welcome nothing is known of its lease.
  constexpr int64_t kFirstNs = 1'000'000'000;
  const int64_t patience_ns = lease_ns_ > 0 ? lease_ns_ / 2 : kFirstNs;
  if (dismissed_) return true;
  return connected_ && needs_session() && now_ns - heard_ns_ > patience_ns;
}

}  // namespace tessera::lock
