// LockDaemon: a lock server behind a transport; the lock role of tesserad.
//
// It carries frames between the peers of a transport and a LockServer, and tells the server the
// time. Peers that send what no client sends are cut off; the first of a while is logged, so that
// whoever floods the server does not flood its log.
//   (D1) The server learns that time has passed only after it has seen every frame that had
//   arrived:
//        after a pause of this process, leases are judged by what clients have said meanwhile.
// Who may connect is the transport's matter (authenticated_transport.hpp). Administrators come the
// same way; what they send goes to LockAdmin.
// Thread safety: one thread, but for stop() and metrics().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tessera/daemon/file_guard.hpp"
#include "tessera/daemon/inquiry.hpp"
#include "tessera/daemon/lock_admin.hpp"
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

  // Keeps its clients and the programs that lock a file by fcntl apart (file_guard.hpp). `name` is
  // what clients call the file. Before serve(), once.
  void guard(std::unique_ptr<port::PlainFile> file, std::string name);

  // Serves until stop() was called, or for so long.
  void serve(int64_t for_ns);
  // To be followed by whatever wakes the transport. From any thread, and from signal handlers.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  // The page that Prometheus reads, if serve() runs and finds the time within so long. `wake` wakes
  // the transport. From any other thread.
  [[nodiscard]] std::optional<std::string> metrics(const std::function<void()>& wake,
                                                   int64_t for_ns) {
    return inquiry_.ask(wake, for_ns);
  }

  [[nodiscard]] const lock::LockServer& server() const { return server_; }
  // Sessions of others than the guard.
  [[nodiscard]] size_t clients() const;

 private:
  void take(const port::Event& event);
  [[nodiscard]] base::Result<void> take_frame(const port::Event& event);
  // Sends a frame, or ends the connection of a peer that does not read what it asked for; it comes
  // back when it does.
  void send(port::ConnectionId connection, const base::Bytes& frame);
  void cut_off(port::ConnectionId peer, const base::Error& why);
  void log_cut_off(const base::Error& why);
  [[nodiscard]] int64_t wait_ns(int64_t end_ns) const;
  // Lets time pass for the server, and for the guard.
  void advance(int64_t now_ns);

  port::Transport& transport_;
  const port::Clock& clock_;
  const Log log_;
  std::atomic<bool> stopped_ = false;
  int64_t quiet_until_ns_ = 0;
  lock::LockServer server_;
  const int64_t start_ns_;
  std::optional<FileGuard> guard_;
  LockAdmin admin_;
  Inquiry inquiry_;
};

}  // namespace tessera::daemon
