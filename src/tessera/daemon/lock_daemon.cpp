#include "tessera/daemon/lock_daemon.hpp"

#include <algorithm>
#include <utility>

#include "tessera/daemon/metrics_page.hpp"

namespace tessera::daemon {

LockDaemon::LockDaemon(const lock::LockServerSettings& settings, const World& world, Log log)
    : FrameDaemon(world, std::move(log)),
      server_(settings, world.random, nullptr,
              [this](lock::LockServer::Peer peer, base::Bytes frame) {
                if (peer == FileGuard::kPeer) {
                  guard_->deliver(std::move(frame));
                } else {
                  send(port::ConnectionId{peer}, frame);
                }
              }),
      start_ns_(now_ns()),
      admin_(server_, start_ns_, this->log()) {
  server_.start(start_ns_);
}

void LockDaemon::guard(std::unique_ptr<port::PlainFile> file, std::string name) {
  guard_.emplace(server_, std::move(file), std::move(name));
  guard_->start(now_ns());
}

void LockDaemon::offer_board(std::unique_ptr<lock::BoardFile> board) {
  board_ = std::move(board);
  server_.use_board(board_->keeper(), board_->place());
  server_.set_outsider(FileGuard::kPeer);
}

size_t LockDaemon::clients() const {
  const size_t guards = guard_ && server_.has_session(FileGuard::kPeer) ? 1 : 0;
  return server_.sessions() - guards;
}

// A client asks for a lock only after it was welcomed, so nothing is granted before this is told.
void LockDaemon::tell_clients() {
  const bool has_clients = clients() > 0;
  if (has_clients == std::exchange(had_clients_, has_clients) || !watch_) return;
  watch_(has_clients);
}

base::Result<void> LockDaemon::take_frame(const port::Event& event) {
  if (!lock::is_admin_frame(event.frame)) {
    const auto peer = static_cast<lock::LockServer::Peer>(event.connection);
    TESSERA_TRY_VOID(server_.receive(peer, event.frame, now_ns()));
    tell_clients();
    return {};
  }
  TESSERA_TRY(const base::Bytes answer, admin_.answer(event.frame, now_ns()));
  send(event.connection, answer);
  return {};
}

void LockDaemon::forget(port::ConnectionId peer) {
  server_.disconnect(static_cast<lock::LockServer::Peer>(peer));
}

void LockDaemon::advance(int64_t now_ns) {
  server_.advance(now_ns);
  if (guard_) guard_->advance(now_ns);
  if (may_open_board()) server_.open_board(now_ns);
  tell_clients();
  inquiry_.answer([&] { return metrics_page(server_, this->now_ns() - start_ns_); });
}

// A claim stands on the range lock of the file as every other lock does.
bool LockDaemon::may_open_board() const { return !guard_ || guard_->is_clients_turn(); }

std::optional<int64_t> LockDaemon::next_due_ns() const {
  std::optional<int64_t> due = server_.next_due_ns();
  const auto sooner = [&](std::optional<int64_t> other) {
    if (other) due = std::min(due.value_or(*other), *other);
  };
  if (guard_) sooner(guard_->next_due_ns());
  if (may_open_board()) sooner(server_.board_due_ns());
  return due;
}

}  // namespace tessera::daemon
