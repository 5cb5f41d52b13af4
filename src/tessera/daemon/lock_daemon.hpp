// LockDaemon: a lock server behind a transport; the lock role of tesserad.
//
// It carries frames between the peers of a transport and a LockServer, and tells the server the
// time. Peers that send what no client sends are cut off; the first of a while is logged, so that
// whoever floods the server does not flood its log.
//   (D1) The server learns that time has passed only after it has seen every frame that had
//   arrived:
//        after a pause of this process, leases are judged by what clients have said meanwhile.
// Who may connect is the transport's matter: Unix sockets belong to one user.
// Thread safety: one thread, but for stop().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "tessera/lock/lock_server.hpp"
#include "tessera/port/clock.hpp"
#include "tessera/port/random.hpp"
#include "tessera/port/transport.hpp"

namespace tessera::daemon {

class LockDaemon {
 public:
  using Log = std::function<void(const std::string& line)>;

  // Requires that all outlive it, and that the transport listens.
  struct World {
    port::Transport& transport;
    const port::Clock& clock;
    port::Random& random;
  };
  LockDaemon(const lock::LockServerSettings& settings, const World& world, Log log);

  // Serves until stop() was called, or for so long.
  void serve(int64_t for_ns);
  // To be followed by whatever wakes the transport. From any thread, and from signal handlers.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  [[nodiscard]] const lock::LockServer& server() const { return server_; }

 private:
  void take(const port::Event& event);
  void cut_off(port::ConnectionId peer, const base::Error& why);
  void log_cut_off(const base::Error& why);
  [[nodiscard]] int64_t wait_ns(int64_t end_ns) const;

  port::Transport& transport_;
  const port::Clock& clock_;
  const Log log_;
  std::atomic<bool> stopped_ = false;
  int64_t quiet_until_ns_ = 0;
  lock::LockServer server_;
};

}  // namespace tessera::daemon
