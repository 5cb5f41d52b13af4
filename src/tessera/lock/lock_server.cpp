#include "tessera/lock/lock_server.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::lock {

namespace {

using base::Code;
using base::Result;

constexpr const char* kTaken = "somebody has a lock on these bytes";

// Requests that are over and may be asked for once more, of a session.
constexpr size_t kOverMax = 1024;

int64_t later(int64_t now_ns, int64_t by_ns) {
  return base::checked_add(now_ns, by_ns).value_or(std::numeric_limits<int64_t>::max());
}

}  // namespace

LockServer::LockServer(const LockServerSettings& settings, port::Random& random, Fences* fences,
                       Send send, Backing* backing)
    : settings_(settings),
      random_(random),
      fences_(fences),
      send_(std::move(send)),
      backing_(backing),
      epoch_(random.next() | 1) {}

void LockServer::start(int64_t now_ns) {
  now_ns_ = now_ns;
  grace_ = settings_.restarted ? Grace::kReclaiming : Grace::kOver;
  grace_end_ns_ = settings_.restarted ? later(now_ns, settings_.grace_ns) : now_ns;
}

// --- sessions

LockServer::Session* LockServer::find_session(SessionId id) {
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? nullptr : &at->second;
}

LockServer::Session* LockServer::session_of(Peer peer) {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? nullptr : find_session(at->second);
}

void LockServer::tell(const Session& session, const Message& message) const {
  if (session.peer) send_(*session.peer, encode(message));
}

void LockServer::hear(Session& session, int64_t stamp_ns, int64_t now_ns) {
  session.heard_ns = now_ns;
  if (later(now_ns, settings_.lease_ns) <= backed_until_ns_) session.stamp_ns = stamp_ns;
}

std::vector<LockServer::Peer> LockServer::peers() const {
  std::vector<Peer> peers;
  for (const auto& [peer, session] : peers_) peers.push_back(peer);
  return peers;
}

LockServer::Session& LockServer::make_session(const Hello& hello) {
  Session session;
  session.id = ++last_session_;
  session.secret = random_.next();
  session.client = hello.client;
  return sessions_.emplace(session.id, std::move(session)).first->second;
}

void LockServer::welcome(Peer peer, Session& session, bool resumed) {
  if (session.peer && *session.peer != peer) peers_.erase(*session.peer);
  session.peer = peer;
  peers_[peer] = session.id;
  tell(session, Welcome{.epoch = epoch_,
                        .session = session.id,
                        .secret = session.secret,
                        .lease_ns = settings_.lease_ns,
                        .stamp_ns = session.stamp_ns,
                        .resumed = resumed,
                        .via = via_});
}

Result<void> LockServer::on(Peer peer, const Hello& hello, int64_t now_ns) {
  if (session_of(peer) != nullptr) return base::fail(Code::kIntegrity, "a second Hello");
  Session* known = hello.epoch == epoch_ ? find_session(hello.session) : nullptr;
  if (known != nullptr && known->secret != hello.secret) {
    return base::fail(Code::kDenied, "the session of another client");
  }
  if (known != nullptr && !known->fencing) {
    hear(*known, hello.stamp_ns, now_ns);
    welcome(peer, *known, true);
    release_others(*known, std::numeric_limits<Sequence>::max(), hello.active, now_ns);
    recall_again(*known);
    return {};
  }
  const size_t kept_free = hello.is_proxy ? 0 : settings_.sessions_for_proxies;
  if (sessions_.size() + kept_free >= settings_.sessions_max) {
    send_(peer, encode(Lost{0, Loss::kFull}));
    return base::fail(Code::kRetry, "the lock server has too many sessions");
  }
  Session& made = make_session(hello);
  hear(made, hello.stamp_ns, now_ns);
  deadlines_.insert({later(now_ns, settings_.lease_ns), Due::kLease, made.id});
  welcome(peer, made, false);
  return {};
}

// What the client does not name any more it has released, in a message that was lost.
void LockServer::release_others(Session& session, Sequence last,
                                const std::vector<Sequence>& active, int64_t now_ns) {
  const auto is_over = [&](Sequence sequence) {
    return sequence <= last && !std::binary_search(active.begin(), active.end(), sequence);
  };
  std::vector<Ticket> gone;
  for (const auto& [sequence, ticket] : session.active) {
    if (is_over(sequence)) gone.push_back(ticket);
  }
  for (const Ticket ticket : gone) {
    remember(session, requests_.at(ticket).sequence, {});
    ++counts_.released;
    remove(ticket, now_ns);
  }
  std::vector<Sequence> gone_early;
  for (const auto& [sequence, early] : session.early) {
    if (is_over(sequence)) gone_early.push_back(sequence);
  }
  for (const Sequence sequence : gone_early) forget_early(session, sequence);
}

void LockServer::forget_early(Session& session, Sequence sequence) {
  const auto at = session.early.find(sequence);
  if (at == session.early.end()) return;
  pattern_bytes_ -= at->second.asked.bytes.size();
  --early_;
  session.early.erase(at);
}

void LockServer::disconnect(Peer peer) {
  Session* session = session_of(peer);
  if (session != nullptr && session->peer == peer) session->peer.reset();
  peers_.erase(peer);
}

void LockServer::expire(Session& session, int64_t now_ns) {
  ++counts_.expired_sessions;
  counts_.lost += session.active.size();
  tell(session, Lost{0, Loss::kExpired});
  session.fencing = true;
  while (!session.early.empty()) forget_early(session, session.early.begin()->first);
  if (session.peer) peers_.erase(*std::exchange(session.peer, std::nullopt));
  const SessionId id = session.id;
  if (fences_ == nullptr || session.active.empty()) {
    end_session(id, now_ns);
  } else {
    fences_->begin(epoch_, id);
  }
}

void LockServer::fenced(SessionId id) {
  const Session* session = find_session(id);
  if (session != nullptr && session->fencing) end_session(id, now_ns_);
}

void LockServer::epoch_fenced() {
  if (grace_ == Grace::kFencing) end_grace(now_ns_);
}

void LockServer::end_session(SessionId id, int64_t now_ns) {
  Session& session = sessions_.at(id);
  while (!session.active.empty()) remove(session.active.begin()->second, now_ns);
  while (!session.early.empty()) forget_early(session, session.early.begin()->first);
  if (session.peer) peers_.erase(*session.peer);
  sessions_.erase(id);
}

// --- requests

bool LockServer::answer_again(Session& session, const Acquire& asked) {
  if (asked.sequence < session.oldest) return true;
  if (const auto active = session.active.find(asked.sequence); active != session.active.end()) {
    if (requests_.at(active->second).held) {
      tell(session, Granted{asked.sequence, session.stamp_ns});
    }
    return true;
  }
  if (const auto over = session.over.find(asked.sequence); over != session.over.end()) {
    if (over->second.answer) tell(session, *over->second.answer);
    return true;
  }
  return session.early.contains(asked.sequence);
}

bool LockServer::has_room(const Session& session, const Acquire& asked) const {
  return session.requests() < settings_.session_requests_max &&
         requests_.size() + early_ < settings_.requests_max &&
         pattern_bytes_ + asked.bytes.size() <= settings_.pattern_bytes_max;
}

// Of a client that holds one lock for long and takes many others meanwhile, only the last ones that
// are over are remembered; a message that is repeated comes sooner.
void LockServer::remember(Session& session, Sequence sequence, Over over) {
  session.over[sequence] = std::move(over);
  if (session.over.size() > kOverMax) session.over.erase(session.over.begin());
}

void LockServer::forget_before(Session& session, Sequence oldest) {
  session.oldest = std::max(session.oldest, oldest);
  session.over.erase(session.over.begin(), session.over.lower_bound(session.oldest));
}

void LockServer::refuse(Session& session, Sequence sequence, Refusal why, const std::string& text) {
  ++counts_.refused;
  const Refused refused = {sequence, session.stamp_ns, why, text};
  remember(session, sequence, {refused});
  tell(session, refused);
}

void LockServer::on(Session& session, const Acquire& asked, int64_t now_ns) {
  forget_before(session, asked.oldest);
  if (answer_again(session, asked)) return;
  if (!has_room(session, asked)) {
    // Nothing is remembered of it: whoever asks again may find room.
    ++counts_.refused;
    tell(session, Refused{asked.sequence, session.stamp_ns, Refusal::kBusy,
                          "the lock server has too many requests"});
    return;
  }
  if (!in_grace() || asked.reclaims) {
    ask(session, asked, now_ns);
  } else if (asked.wait_ns == 0) {
    refuse(session, asked.sequence, Refusal::kWouldWait,
           "the lock server has just started, and waits for those who had locks");
  } else {
    session.early[asked.sequence] = {early_places_++, asked};
    pattern_bytes_ += asked.bytes.size();
    ++early_;
  }
}

LockTable& LockServer::table_of(const std::string& file) {
  const auto at = files_.find(file);
  if (at != files_.end()) return at->second;
  return files_.try_emplace(file, make_index(settings_.index)).first->second;
}

LockServer::Request& LockServer::add_request(Ticket ticket, Session& session, const Acquire& asked,
                                             int64_t now_ns) {
  Request& request = requests_[ticket];
  request.session = session.id;
  request.sequence = asked.sequence;
  request.file = asked.file;
  request.since_ns = now_ns;
  request.hold_ns = asked.hold_ns;
  request.may_wait = asked.wait_ns != 0;
  request.recallable = asked.recallable;
  request.pattern_bytes = asked.bytes.size();
  pattern_bytes_ += request.pattern_bytes;
  session.active[asked.sequence] = ticket;
  return request;
}

void LockServer::ask(Session& session, const Acquire& asked, int64_t now_ns) {
  auto claim = decode_claim(asked.bytes, asked.mode);
  if (!claim) {
    refuse(session, asked.sequence, Refusal::kInvalid, claim.error().context);
    return;
  }
  if (asked.reclaims) {
    reclaim(session, asked, *std::move(claim), now_ns);
    return;
  }
  const Ticket ticket = ++last_ticket_;
  const int64_t wait_end_ns = asked.wait_ns > 0 ? later(now_ns, asked.wait_ns) : 0;
  add_request(ticket, session, asked, now_ns).wait_end_ns = wait_end_ns;
  if (wait_end_ns > 0) deadlines_.insert({wait_end_ns, Due::kWait, ticket});
  LockTable& table = table_of(asked.file);
  if (table.request(ticket, *std::move(claim), asked.recallable) == LockState::kHeld) {
    take_turn(ticket, now_ns);
    return;
  }
  requests_[ticket].waited = true;
  if (asked.wait_ns == 0) {
    turn_away(ticket, Refusal::kWouldWait, kTaken, now_ns);
  } else {
    recall_for(ticket);
  }
}

void LockServer::turn_away(Ticket ticket, Refusal why, const std::string& text, int64_t now_ns) {
  const Request& request = requests_.at(ticket);
  Session& session = sessions_.at(request.session);
  const Sequence sequence = request.sequence;
  remove(ticket, now_ns);
  refuse(session, sequence, why, text);
}

// (S4)
void LockServer::reclaim(Session& session, const Acquire& asked, Claim claim, int64_t now_ns) {
  if (grace_ != Grace::kReclaiming) {
    refuse(session, asked.sequence, Refusal::kTooLate,
           "the lock server was restarted, and the time to reclaim locks is over");
    return;
  }
  const Ticket ticket = ++last_ticket_;
  LockTable& table = table_of(asked.file);
  const auto restored = table.restore(ticket, std::move(claim), asked.recallable);
  if (!restored) {
    if (table.empty()) files_.erase(asked.file);
    refuse(session, asked.sequence, Refusal::kTooLate, restored.error().context);
    return;
  }
  ++counts_.reclaimed;
  add_request(ticket, session, asked, now_ns);
  take_turn(ticket, now_ns);
}

void LockServer::take_turn(Ticket ticket, int64_t now_ns) {
  Request& request = requests_.at(ticket);
  auto answer = Backing::Answer::kYes;
  if (backing_ != nullptr) {
    const Claim& claim = *files_.at(request.file).claim(ticket);
    answer = backing_->begin({ticket, request.file, claim, request.may_wait, request.recallable},
                             now_ns);
    request.had_turn = answer != Backing::Answer::kNo;
  }
  if (answer == Backing::Answer::kYes) grant(ticket, now_ns);
  if (answer == Backing::Answer::kNo) turn_away(ticket, Refusal::kWouldWait, kTaken, now_ns);
}

void LockServer::backed(Ticket ticket, int64_t now_ns) {
  const auto at = requests_.find(ticket);
  if (at != requests_.end() && !at->second.held) grant(ticket, now_ns);
}

void LockServer::unbacked(Ticket ticket, Refusal why, const std::string& text, int64_t now_ns) {
  if (requests_.contains(ticket)) turn_away(ticket, why, text, now_ns);
}

void LockServer::withdraw(Ticket ticket, int64_t now_ns) {
  if (requests_.contains(ticket)) lose(ticket, Loss::kUpstream, now_ns);
}

void LockServer::recall(Ticket ticket) {
  const auto at = requests_.find(ticket);
  if (at == requests_.end() || !at->second.recallable) return;
  at->second.wanted = true;
  recall_if_wanted(ticket);
}

void LockServer::grant(Ticket ticket, int64_t now_ns) {
  Request& request = requests_.at(ticket);
  ++counts_.granted;
  if (request.waited) ++counts_.waited;
  deadlines_.erase({request.wait_end_ns, Due::kWait, ticket});
  waits_.add(now_ns - request.since_ns);
  request.held = true;
  ++held_;
  request.since_ns = now_ns;
  if (request.hold_ns > 0) {
    deadlines_.insert({later(now_ns, request.hold_ns), Due::kHold, ticket});
  }
  const Session& session = sessions_.at(request.session);
  tell(session, Granted{request.sequence, session.stamp_ns});
  recall_if_wanted(ticket);
}

void LockServer::recall_for(Ticket waiting) {
  for (const Ticket ticket : files_.at(requests_.at(waiting).file).recalls_of(waiting)) {
    requests_.at(ticket).wanted = true;
    recall_if_wanted(ticket);
  }
}

void LockServer::recall_again(const Session& session) {
  for (const auto& [sequence, ticket] : session.active) recall_if_wanted(ticket);
}

void LockServer::recall_if_wanted(Ticket ticket) {
  const Request& request = requests_.at(ticket);
  if (!request.wanted || !request.held) return;
  ++counts_.recalled;
  tell(sessions_.at(request.session), Recall{request.sequence});
}

void LockServer::remove(Ticket ticket, int64_t now_ns) {
  const auto at = requests_.find(ticket);
  TESSERA_ASSERT(at != requests_.end());
  const Request request = std::move(at->second);
  requests_.erase(at);
  pattern_bytes_ -= request.pattern_bytes;
  if (request.held) --held_;
  sessions_.at(request.session).active.erase(request.sequence);
  deadlines_.erase({request.wait_end_ns, Due::kWait, ticket});
  deadlines_.erase({later(request.since_ns, request.hold_ns), Due::kHold, ticket});
  if (request.had_turn) backing_->end(ticket, now_ns);
  const auto file = files_.find(request.file);
  TESSERA_ASSERT(file != files_.end());
  const std::vector<Ticket> granted = file->second.remove(ticket);
  if (file->second.empty()) files_.erase(file);
  for (const Ticket next : granted) take_turn(next, now_ns);
}

void LockServer::on(Session& session, const Release& released, int64_t now_ns) {
  forget_early(session, released.sequence);
  const auto active = session.active.find(released.sequence);
  if (active != session.active.end()) {
    ++counts_.released;
    remove(active->second, now_ns);
  }
  // One that overtakes its request, on a new connection, must not be granted afterwards.
  if (released.sequence >= session.oldest) remember(session, released.sequence, {});
  forget_before(session, released.oldest);
}

void LockServer::on(Session& session, const Renew& renew, int64_t now_ns) {
  release_others(session, renew.last, renew.active, now_ns);
  tell(session, Renewed{session.stamp_ns});
  recall_again(session);
}

void LockServer::lose(Ticket ticket, Loss why, int64_t now_ns) {
  const Request& request = requests_.at(ticket);
  Session& session = sessions_.at(request.session);
  const Lost lost = {request.sequence, why};
  ++counts_.lost;
  remember(session, request.sequence, {lost});
  tell(session, lost);
  remove(ticket, now_ns);
}

bool LockServer::break_lock(SessionId id, Sequence sequence) {
  Session* session = find_session(id);
  if (session == nullptr || session->fencing) return false;
  const auto active = session->active.find(sequence);
  if (active == session->active.end()) return false;
  if (requests_.at(active->second).held && fences_ != nullptr) {
    expire(*session, now_ns_);
  } else {
    lose(active->second, Loss::kBroken, now_ns_);
  }
  return true;
}

// --- frames and time

Result<void> LockServer::receive(Peer peer, base::ByteView frame, int64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  check_grace(now_ns_);
  TESSERA_TRY(const Message message, decode(frame));
  if (const auto* hello = std::get_if<Hello>(&message)) return on(peer, *hello, now_ns_);
  Session* session = session_of(peer);
  if (session == nullptr) return base::fail(Code::kIntegrity, "a message before Hello");
  if (std::holds_alternative<Goodbye>(message)) {
    counts_.released += session->active.size();
    end_session(session->id, now_ns_);
    return {};
  }
  if (const auto* asked = std::get_if<Acquire>(&message)) {
    hear(*session, asked->stamp_ns, now_ns_);
    on(*session, *asked, now_ns_);
  } else if (const auto* released = std::get_if<Release>(&message)) {
    hear(*session, released->stamp_ns, now_ns_);
    on(*session, *released, now_ns_);
  } else if (const auto* renew = std::get_if<Renew>(&message)) {
    hear(*session, renew->stamp_ns, now_ns_);
    on(*session, *renew, now_ns_);
  } else {
    return base::fail(Code::kIntegrity, "a message that only servers send");
  }
  return {};
}

void LockServer::check_grace(int64_t now_ns) {
  if (grace_ != Grace::kReclaiming || now_ns < grace_end_ns_) return;
  if (fences_ == nullptr) {
    end_grace(now_ns);
    return;
  }
  grace_ = Grace::kFencing;
  fences_->begin_epoch(epoch_);
}

void LockServer::end_grace(int64_t now_ns) {
  grace_ = Grace::kOver;
  std::map<uint64_t, std::pair<SessionId, Acquire>> in_order;
  for (auto& [id, session] : sessions_) {
    for (auto& [sequence, early] : session.early) {
      in_order[early.place] = {id, std::move(early.asked)};
    }
    session.early.clear();
  }
  early_ = 0;
  for (const auto& [place, asked] : in_order) {
    pattern_bytes_ -= asked.second.bytes.size();
    ask(sessions_.at(asked.first), asked.second, now_ns);
  }
}

void LockServer::run(const Deadline& deadline, int64_t now_ns) {
  if (deadline.what == Due::kLease) {
    Session* session = find_session(deadline.id);
    if (session == nullptr || session->fencing) return;
    const int64_t end_ns = later(session->heard_ns, settings_.lease_ns);
    if (end_ns > now_ns) {
      deadlines_.insert({end_ns, Due::kLease, deadline.id});
    } else {
      expire(*session, now_ns);
    }
    return;
  }
  const Request& request = requests_.at(deadline.id);
  Session& session = sessions_.at(request.session);
  if (deadline.what == Due::kWait) {
    turn_away(deadline.id, Refusal::kWouldWait, "the request has waited long enough", now_ns);
  } else if (fences_ != nullptr) {
    // Only whole sessions can be fenced.
    expire(session, now_ns);
  } else {
    lose(deadline.id, Loss::kHeldLong, now_ns);
  }
}

void LockServer::advance(int64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  check_grace(now_ns_);
  while (!deadlines_.empty() && deadlines_.begin()->at_ns <= now_ns_) {
    const Deadline deadline = *deadlines_.begin();
    deadlines_.erase(deadlines_.begin());
    run(deadline, now_ns_);
  }
}

std::optional<int64_t> LockServer::next_due_ns() const {
  std::optional<int64_t> due;
  if (!deadlines_.empty()) due = deadlines_.begin()->at_ns;
  if (grace_ == Grace::kReclaiming) due = std::min(due.value_or(grace_end_ns_), grace_end_ns_);
  return due;
}

// --- for those who look

LockServer::View LockServer::view_of(Ticket ticket, int64_t now_ns) const {
  const Request& request = requests_.at(ticket);
  const Session& session = sessions_.at(request.session);
  const LockTable& table = files_.at(request.file);
  return {.session = session.id,
          .sequence = request.sequence,
          .client = session.client,
          .file = request.file,
          .claim = table.claim(ticket),
          .state = request.held ? LockState::kHeld : LockState::kWaiting,
          .wanted = request.wanted,
          .since_ns = request.since_ns,
          .lease_ns_left = session.heard_ns + settings_.lease_ns - now_ns,
          .waits_for = table.waits_for(ticket),
          .ticket = ticket};
}

void LockServer::for_each(int64_t now_ns, const std::function<void(const View&)>& visit) const {
  for (const auto& [name, table] : files_) {
    table.for_each([&](Ticket ticket, const Claim& /*claim*/, LockState /*state*/) {
      visit(view_of(ticket, now_ns));
    });
  }
}

void LockServer::visit_after(LockId after, int64_t now_ns,
                             const std::function<bool(const View&)>& visit) const {
  for (auto at = sessions_.lower_bound(after.session); at != sessions_.end(); ++at) {
    const auto& active = at->second.active;
    auto request = at->first == after.session ? active.upper_bound(after.sequence) : active.begin();
    for (; request != active.end(); ++request) {
      if (!visit(view_of(request->second, now_ns))) return;
    }
  }
}

LockId LockServer::id_of(Ticket ticket) const {
  const Request& request = requests_.at(ticket);
  return {request.session, request.sequence};
}

void LockServer::check_invariants() const {
  size_t active = 0;
  size_t held = 0;
  for (const auto& [id, session] : sessions_) {
    TESSERA_ASSERT(id == session.id);
    if (session.peer) TESSERA_ASSERT(peers_.at(*session.peer) == id);
    for (const auto& [sequence, ticket] : session.active) {
      const Request& request = requests_.at(ticket);
      TESSERA_ASSERT(request.session == id && request.sequence == sequence);
      // Whoever has its turn is granted, where nobody else must agree.
      const bool its_turn = files_.at(request.file).state(ticket) == LockState::kHeld;
      TESSERA_ASSERT(request.held ? its_turn : !its_turn || backing_ != nullptr);
      if (request.held) ++held;
      ++active;
    }
  }
  TESSERA_ASSERT(active == requests_.size() && held == held_);
  size_t listed = 0;
  for (const auto& [name, table] : files_) {
    TESSERA_ASSERT(!table.empty());
    table.check_invariants();
    listed += table.size();
  }
  TESSERA_ASSERT(listed == requests_.size());
}

}  // namespace tessera::lock
