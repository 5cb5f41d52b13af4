// LockServer and the claim board of its file: when it is open, and what is found on it.
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/lock/lock_server.hpp"

namespace tessera::lock {

void LockServer::use_board(BoardKeeper& board, const BoardAt& place) {
  TESSERA_ASSERT(board_ == nullptr && fences_ == nullptr && backing_ == nullptr);
  TESSERA_ASSERT(settings_.index == IndexKind::kPatterns && !board.is_open());
  board_ = &board;
  board_place_ = place;
}

bool LockServer::is_outsider(SessionId id) const {
  return outsider_ && sessions_.at(id).peer == outsider_;
}

void LockServer::note_wait(Ticket ticket, int64_t now_ns) {
  const Request& request = requests_.at(ticket);
  if (board_ == nullptr || request.file != board_place_.file) return;
  const auto other = files_.at(request.file).waits_for(ticket);
  if (is_outsider(request.session) || is_outsider(requests_.at(*other).session)) return;
  quiet_at_ns_ = now_ns + settings_.quiet_ns;
}

void LockServer::open_board(int64_t now_ns) {
  if (board_ == nullptr || board_->is_open() || in_grace() || now_ns < quiet_at_ns_) return;
  std::vector<BoardKeeper::Post> held;
  if (const auto file = files_.find(board_place_.file); file != files_.end()) {
    if (file->second.held() < file->second.size()) return;
    file->second.for_each([&](Ticket ticket, const Claim& claim, LockState /*state*/) {
      const Request& request = requests_.at(ticket);
      held.push_back({ticket, {request.session, request.sequence, claim.mode, request.pattern}});
    });
  }
  // What does not fit now may be gone when it is tried again.
  if (!board_->open(held)) quiet_at_ns_ = now_ns + settings_.quiet_ns;
}

std::optional<int64_t> LockServer::board_due_ns() const {
  if (board_ == nullptr || board_->is_open() || in_grace()) return std::nullopt;
  const auto file = files_.find(board_place_.file);
  if (file != files_.end() && file->second.held() < file->second.size()) return std::nullopt;
  return quiet_at_ns_;
}

void LockServer::close_board(int64_t now_ns) {
  if (!board_is_open()) return;
  for (const BoardClaim& found : board_->close()) adopt(found, now_ns);
}

bool LockServer::post(Session& session, const Acquire& asked, const Claim& claim, int64_t now_ns) {
  const Ticket ticket = ++last_ticket_;
  LockTable& table = table_of(asked.file);
  const BoardKeeper::Post posted = {ticket, {session.id, asked.sequence, asked.mode, asked.bytes}};
  const bool fits = table.restore(ticket, claim, asked.recallable).has_value();
  if (!fits || !board_->post(posted, claim)) {
    if (fits) static_cast<void>(table.remove(ticket));
    if (table.empty()) files_.erase(asked.file);
    return false;
  }
  add_request(ticket, session, asked, now_ns);
  take_turn(ticket, now_ns);
  return true;
}

// Where a session does not live any more its lease is over, and whoever claimed knows it. A claim
// that conflicts with another one is none that this program makes: it is taken away.
void LockServer::adopt(const BoardClaim& found, int64_t now_ns) {
  Session* session = find_session(found.session);
  if (session == nullptr || found.sequence < session->oldest ||
      session->active.contains(found.sequence) || session->over.contains(found.sequence)) {
    return;
  }
  Acquire asked;
  asked.sequence = found.sequence;
  asked.file = board_place_.file;
  asked.mode = found.mode;
  asked.bytes = found.bytes;
  const Ticket ticket = ++last_ticket_;
  LockTable& table = table_of(asked.file);
  auto claim = decode_claim(asked.bytes, asked.mode);
  if (claim && table.restore(ticket, *std::move(claim))) {
    add_request(ticket, *session, asked, now_ns).held = true;
    ++held_;
    return;
  }
  if (table.empty()) files_.erase(asked.file);
  const Lost lost = {found.sequence, Loss::kBroken};
  ++counts_.lost;
  remember(*session, found.sequence, {lost});
  tell(*session, lost);
}

}  // namespace tessera::lock
