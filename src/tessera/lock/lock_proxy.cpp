#include "tessera/lock/lock_proxy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"

namespace tessera::lock {

namespace {

using base::Code;

// (Y2): the lease upstream is renewed every third of its length, so two thirds of it are left when
// an answer comes in time, and one if one is lost.
constexpr int64_t kLocalLeases = 3;

Claim whole_file() {
  return {pattern::ByteSet::of({0, pattern::kMaxPosition}).value(), Mode::kExclusive};
}

}  // namespace

LockProxy::LockProxy(std::string name, const LockProxySettings& settings, port::Random& random,
                     Fences* fences, Links links)
    : settings_(settings),
      random_(random),
      fences_(fences),
      links_(std::move(links)),
      upstream_(std::move(name), links_.send_up, LockClient::Idle::kRenewed) {}

// --- the server

void LockProxy::connected_up(int64_t now_ns) { upstream_.connected(now_ns); }

base::Result<void> LockProxy::receive_up(base::ByteView frame, int64_t now_ns) {
  auto taken = upstream_.receive(frame, now_ns);
  follow_up(now_ns);
  return taken;
}

void LockProxy::follow_up(int64_t now_ns) {
  notice_session(now_ns);
  for (const LockClient::Event& event : upstream_.take_events()) on(event, now_ns);
  if (!server_) return;
  server_->set_backed_until(upstream_.valid_until_ns());
  if (!std::exchange(uncovered_, false)) return;
  for (auto& [name, file] : files_) grant_turns(file, now_ns);
}

void LockProxy::notice_session(int64_t now_ns) {
  const Identity now = upstream_.identity();
  if (now.session == 0 || now == session_) return;
  session_ = now;
  if (!server_) {
    LockServerSettings settings = settings_.server;
    settings.lease_ns = std::max<int64_t>(1, upstream_.lease_ns() / kLocalLeases);
    settings.restarted = false;
    server_.emplace(settings, random_, fences_, links_.send, static_cast<Backing*>(this));
    server_->start(now_ns);
  }
  server_->set_via(session_);
  for (const Peer peer : server_->peers()) {
    server_->disconnect(peer);
    links_.close(peer);
  }
}

void LockProxy::on(const LockClient::Event& event, int64_t now_ns) {
  const auto at = purposes_.find(event.sequence);
  if (at == purposes_.end()) return;
  const Purpose purpose = at->second;
  const bool is_over = event.kind == LockClient::Event::Kind::kRefused ||
                       event.kind == LockClient::Event::Kind::kLost;
  if (is_over) purposes_.erase(at);
  if (purpose.turn) {
    on_turn(*purpose.turn, event, now_ns);
  } else {
    on_delegation(purpose.file, event, now_ns);
  }
}

void LockProxy::on_delegation(const std::string& name, const LockClient::Event& event,
                              int64_t now_ns) {
  File& file = files_.at(name);
  switch (event.kind) {
    case LockClient::Event::Kind::kGranted:
      ++counts_.delegations;
      file.rule = Rule::kDelegated;
      file.used_ns = now_ns;
      grant_turns(file, now_ns);
      break;
    case LockClient::Event::Kind::kRefused:
      begin_passing(file, now_ns);
      break;
    case LockClient::Event::Kind::kRecalled:
      ++counts_.recalled;
      begin_return(file, now_ns);
      break;
    case LockClient::Event::Kind::kLost:
      lose_delegation(file, now_ns);
      break;
  }
}

void LockProxy::on_turn(Ticket ticket, const LockClient::Event& event, int64_t now_ns) {
  switch (event.kind) {
    case LockClient::Event::Kind::kGranted:
      server_->backed(ticket, now_ns);
      break;
    case LockClient::Event::Kind::kRefused: {
      turns_.at(ticket).upstream = 0;
      const bool later = event.error.code == Code::kRetry;
      server_->unbacked(ticket, later ? Refusal::kWouldWait : Refusal::kInvalid,
                        event.error.context, now_ns);
      break;
    }
    case LockClient::Event::Kind::kRecalled:
      server_->recall(ticket);
      break;
    case LockClient::Event::Kind::kLost:
      turns_.at(ticket).upstream = 0;
      server_->withdraw(ticket, now_ns);
      break;
  }
}

// --- delegations

void LockProxy::try_delegation(const std::string& name, File& file, int64_t now_ns) {
  file.rule = Rule::kTrying;
  file.delegation = upstream_.acquire(
      {.file = name, .claim = whole_file(), .wait_ns = 0, .recallable = true}, now_ns);
  purposes_[file.delegation] = {name, std::nullopt};
}

bool LockProxy::is_covered(const File& file, int64_t now_ns) const {
  return file.rule == Rule::kDelegated &&
         upstream_.holds(file.delegation, now_ns, server_->lease_ns());
}

void LockProxy::grant_turns(File& file, int64_t now_ns) {
  if (file.rule != Rule::kDelegated) return;
  if (!is_covered(file, now_ns)) {
    uncovered_ = true;
    return;
  }
  for (const Ticket ticket : file.turns) {
    if (std::exchange(turns_.at(ticket).granted, true)) continue;
    ++file.granted;
    server_->backed(ticket, now_ns);
  }
}

void LockProxy::begin_return(File& file, int64_t now_ns) {
  if (file.rule != Rule::kDelegated) return;
  file.rule = Rule::kReturning;
  for (const Ticket ticket : file.turns) {
    if (turns_.at(ticket).granted) server_->recall(ticket);
  }
  if (file.granted == 0) give_back(file, now_ns);
}

void LockProxy::give_back(File& file, int64_t now_ns) {
  end_upstream(file.delegation, now_ns);
  begin_passing(file, now_ns);
}

// What waits is passed on before those who had something are told, as that gives others their turn.
void LockProxy::lose_delegation(File& file, int64_t now_ns) {
  std::vector<Ticket> lost;
  for (const Ticket ticket : file.turns) {
    if (turns_.at(ticket).granted) lost.push_back(ticket);
  }
  begin_passing(file, now_ns);
  for (const Ticket ticket : lost) server_->withdraw(ticket, now_ns);
}

void LockProxy::begin_passing(File& file, int64_t now_ns) {
  file.rule = Rule::kPassing;
  file.delegation = 0;
  file.granted = 0;
  file.others_ns = now_ns;
  for (const Ticket ticket : file.turns) {
    if (!turns_.at(ticket).granted) pass(ticket, now_ns);
  }
}

void LockProxy::pass(Ticket ticket, int64_t now_ns) {
  ++counts_.passed;
  Turn& turn = turns_.at(ticket);
  turn.upstream = upstream_.acquire({.file = turn.file,
                                     .claim = turn.claim,
                                     .wait_ns = turn.may_wait ? -1 : 0,
                                     .recallable = turn.recallable},
                                    now_ns);
  purposes_[turn.upstream] = {turn.file, ticket};
}

void LockProxy::end_upstream(Sequence sequence, int64_t now_ns) {
  upstream_.release(sequence, now_ns);
  purposes_.erase(sequence);
}

// --- turns of the node

bool LockProxy::is_quiet(const File& file, int64_t now_ns) const {
  return !file.others_ns || now_ns - *file.others_ns >= settings_.quiet_ns;
}

Backing::Answer LockProxy::begin(const Backing::Turn& turn, int64_t now_ns) {
  File& file = files_[turn.file];
  file.used_ns = now_ns;
  if (file.rule == Rule::kReturning && !turn.may_wait) return Answer::kNo;
  const bool is_alone = file.turns.empty();
  file.turns.insert(turn.ticket);
  Turn& made = turns_[turn.ticket];
  made = {turn.file, turn.claim, turn.may_wait, turn.recallable};
  if (is_covered(file, now_ns)) {
    made.granted = true;
    ++file.granted;
    return Answer::kYes;
  }
  if (file.rule == Rule::kDelegated) uncovered_ = true;
  if (file.rule != Rule::kPassing) return Answer::kLater;
  if (is_alone && is_quiet(file, now_ns)) {
    try_delegation(turn.file, file, now_ns);
  } else {
    pass(turn.ticket, now_ns);
  }
  return Answer::kLater;
}

void LockProxy::end(Ticket ticket, int64_t now_ns) {
  const auto at = turns_.find(ticket);
  TESSERA_ASSERT(at != turns_.end());
  const Turn turn = std::move(at->second);
  turns_.erase(at);
  File& file = files_.at(turn.file);
  file.turns.erase(ticket);
  file.used_ns = now_ns;
  if (turn.upstream != 0) end_upstream(turn.upstream, now_ns);
  if (!turn.granted || file.granted == 0) return;
  --file.granted;
  if (file.rule == Rule::kReturning && file.granted == 0) give_back(file, now_ns);
}

// --- the node

base::Result<void> LockProxy::receive(Peer peer, base::ByteView frame, int64_t now_ns) {
  if (!server_) return base::fail(Code::kRetry, "the lock server was not reached yet");
  // The lease may be over since this was last called.
  upstream_.advance(now_ns);
  follow_up(now_ns);
  return server_->receive(peer, frame, now_ns);
}

void LockProxy::disconnect(Peer peer) {
  if (server_) server_->disconnect(peer);
}

void LockProxy::fenced(SessionId id) {
  if (server_) server_->fenced(id);
}

// --- time

void LockProxy::advance(int64_t now_ns) {
  upstream_.advance(now_ns);
  follow_up(now_ns);
  if (server_) server_->advance(now_ns);
  if (now_ns >= sweep_ns_) sweep(now_ns);
}

void LockProxy::sweep(int64_t now_ns) {
  sweep_ns_ = now_ns + settings_.quiet_ns;
  for (auto at = files_.begin(); at != files_.end();) {
    File& file = at->second;
    const int64_t unused_ns = now_ns - file.used_ns;
    const bool is_open = !file.turns.empty() || file.rule == Rule::kTrying;
    const bool is_kept = file.rule == Rule::kDelegated && unused_ns < settings_.unused_ns_max;
    if (is_open || is_kept || !is_quiet(file, now_ns)) {
      ++at;
      continue;
    }
    if (file.rule == Rule::kDelegated) end_upstream(file.delegation, now_ns);
    at = files_.erase(at);
  }
}

std::optional<int64_t> LockProxy::next_due_ns() const {
  std::optional<int64_t> due = upstream_.next_due_ns();
  const auto take = [&](std::optional<int64_t> other) {
    if (other) due = std::min(due.value_or(*other), *other);
  };
  if (server_) take(server_->next_due_ns());
  if (!files_.empty()) take(sweep_ns_);
  return due;
}

void LockProxy::check_invariants(int64_t now_ns) const {
  if (!server_) return;
  server_->check_invariants();
  size_t turns = 0;
  for (const auto& [name, file] : files_) {
    size_t granted = 0;
    for (const Ticket ticket : file.turns) {
      const Turn& turn = turns_.at(ticket);
      TESSERA_ASSERT(turn.file == name && !(turn.granted && turn.upstream != 0));
      if (turn.granted) ++granted;
    }
    TESSERA_ASSERT(granted == file.granted);
    TESSERA_ASSERT((file.rule == Rule::kPassing) == (file.delegation == 0));
    turns += file.turns.size();
  }
  TESSERA_ASSERT(turns == turns_.size());
  // (Y1)
  server_->for_each(now_ns, [&](const LockServer::View& view) {
    if (view.state != LockState::kHeld || now_ns >= upstream_.valid_until_ns()) return;
    const Turn& turn = turns_.at(view.ticket);
    const Sequence above = turn.granted ? files_.at(view.file).delegation : turn.upstream;
    TESSERA_ASSERT(upstream_.holds(above, now_ns));
  });
}

}  // namespace tessera::lock
