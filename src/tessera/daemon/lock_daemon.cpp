#include "tessera/daemon/lock_daemon.hpp"

#include <algorithm>
#include <utility>

#include "tessera/daemon/metrics_page.hpp"

namespace tessera::daemon {

LockDaemon::LockDaemon(const lock::LockServerSettings& settings, const World& world, Log log,
                       std::unique_ptr<FileGuard> guard)
    : FrameDaemon(world, std::move(log)),
      guard_(std::move(guard)),
      server_(
          settings, world.random, nullptr,
          [this](lock::LockServer::Peer peer, const base::Bytes& frame) {
            send(port::ConnectionId{peer}, frame);
          },
          guard_.get()),
      start_ns_(now_ns()),
      admin_(server_, start_ns_, this->log()) {
  server_.start(start_ns_);
  if (guard_) guard_->advance(server_, start_ns_);
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
  if (guard_) guard_->advance(server_, now_ns);
  tell_clients();
  inquiry_.answer([&] { return metrics_page(server_, this->now_ns() - start_ns_); });
}

std::optional<int64_t> LockDaemon::next_due_ns() const {
  const std::optional<int64_t> due = server_.next_due_ns();
  const std::optional<int64_t> guards = guard_ ? guard_->next_due_ns() : std::nullopt;
  if (!due || !guards) return due ? due : guards;
  return std::min(*due, *guards);
}

}  // namespace tessera::daemon
